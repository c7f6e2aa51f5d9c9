#include "matlaw/Model.h"

#include <cmath>
#include <sstream>

#include <ATen/core/Tensor.h>
#include <ATen/ops/isfinite.h>

#include "support/text.h"

namespace matlaw
{
Model::~Model() = default;

static FatalError no_solver(const Model & model)
{
  return FatalError("Model '" + model.name() + "' solves nothing: it has no solver settings.");
}

solve::NewtonConfig Model::solver_config() const
{
  throw no_solver(*this);
}

void Model::set_solver_config(const solve::NewtonConfig &)
{
  throw no_solver(*this);
}

TensorMap Model::forward(const TensorMap & inputs) const
{
  auto evaluation = evaluate(inputs, {});
  throw_for_rows(inputs, evaluation);
  return std::move(evaluation.outputs);
}

std::pair<TensorMap, BlockMap> Model::jacobian(const TensorMap & inputs) const
{
  auto evaluation = evaluate(inputs, {.jacobian = true});
  throw_for_rows(inputs, evaluation);
  return {std::move(evaluation.outputs), std::move(evaluation.jacobian)};
}

/// Throws InputError for the first non-finite value of row `row`.
static void throw_bad_input(const Model & model, const TensorMap & inputs, const at::Tensor & status, std::int64_t row,
                            const std::vector<std::int64_t> & bad_rows)
{
  for (std::size_t i = 0; i < model.input_names().size(); i++)
  {
    const auto & name = model.input_names()[i];
    const auto found = inputs.find(name);
    if (found == inputs.end())
      continue;
    auto shape = status.sizes().vec();
    for (const auto & part : {model.input_sub_batch_shapes()[i], model.input_base_shapes()[i]})
      shape.insert(shape.end(), part.begin(), part.end());
    const auto value = found->second.expand(shape).flatten(0, status.dim() ? status.dim() - 1 : 0);
    const auto of_row = status.dim() ? value.select(0, row) : value;
    if (at::isfinite(of_row).all().item<bool>())
      continue;
    throw InputError("Input '" + name + "' of model '" + model.name() + "' is NaN or infinite in row " +
                         std::to_string(row) +
                         " of the flattened batch (rows with non-finite input: " + support::row_list(bad_rows) +
                         "). A smaller time step does not help: look for where the host computes '" + name + "'.",
                     name, row);
  }
  throw InputError("An input or parameter of model '" + model.name() + "' is NaN or infinite in row " +
                       std::to_string(row) + ".",
                   "", row);
}

void Model::throw_for_rows(const TensorMap & inputs, const Evaluation & evaluation) const
{
  if (evaluation.ok())
    return;
  const auto status = evaluation.status.reshape({-1}).contiguous();
  const auto * verdict = status.const_data_ptr<std::int8_t>();
  std::vector<std::int64_t> bad_rows;
  for (const auto row : evaluation.failed_rows)
    if (verdict[row] == std::int8_t(Status::BAD_INPUT))
      bad_rows.push_back(row);
  if (!bad_rows.empty())
    throw_bad_input(*this, inputs, evaluation.status, bad_rows.front(), bad_rows);

  const auto iterations = evaluation.iterations.reshape({-1}).contiguous();
  const auto residual = evaluation.residual.defined() ? evaluation.residual.reshape({-1}).contiguous() : at::Tensor();
  std::ostringstream what;
  what << "Model '" << name() << "' did not converge in " << evaluation.failed_rows.size() << " of " << status.numel()
       << " rows: ";
  for (std::size_t i = 0; i < evaluation.failed_rows.size(); i++)
  {
    const auto row = evaluation.failed_rows[i];
    if (i == 5)
    {
      what << ", ...";
      break;
    }
    what << (i ? ", " : "") << "row " << row << " after " << iterations.const_data_ptr<std::int32_t>()[row]
         << " iterations";
    if (residual.defined())
      what << " (|r| = " << residual.const_data_ptr<double>()[row] << ")";
  }
  what << ". Cut the time step and retry from the old state; where small steps fail too, check the parameters, or "
          "loosen "
          "atol and rtol or raise max_its of the law's [Solvers] block and recompile.";
  throw ConvergenceError(what.str(), evaluation.failed_rows);
}
}
