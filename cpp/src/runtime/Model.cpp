#include "matlaw/Model.h"

#include <ATen/core/Tensor.h>

#include "diagnosis/bad_input.h"
#include "matlaw/Failure.h"
#include "support/text.h"
#include "weights/FileView.h"
#include "weights/safetensors.h"
#include "weights/weight_checks.h"

namespace matlaw
{
Model::~Model() = default;

static FatalError no_solver(const Model & model)
{
  return FatalError("Model '" + model.name() + "' solves nothing: it has no solver settings.");
}

solve::NewtonConfig Model::solver_config(const std::string &) const
{
  throw no_solver(*this);
}

void Model::set_solver_config(const solve::NewtonConfig &, const std::string &)
{
  throw no_solver(*this);
}

std::vector<std::size_t> Model::updates_of(const std::string & update) const
{
  const auto & known = implicit_updates();
  if (known.empty())
    throw no_solver(*this);
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < known.size(); i++)
    if (update.empty() || known[i] == update)
      numbers.push_back(i);
  if (numbers.empty())
    throw FatalError("Model '" + name() + "' has no implicit update '" + update + "'; it has " +
                     support::quoted_list(known) + "." + support::did_you_mean(update, known));
  return numbers;
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

const std::vector<WeightInfo> & Model::weight_infos() const
{
  static const std::vector<WeightInfo> none;
  return none;
}

std::shared_ptr<const WeightSet> Model::weights() const
{
  return nullptr;
}

std::shared_ptr<WeightSet> Model::prepare_weights(const TensorMap & tensors, const WeightOptions & options) const
{
  return weights::checked_set(name(), weight_infos(), dtype(), device(), tensors, options);
}

std::uint64_t Model::install_weights(std::shared_ptr<WeightSet>)
{
  throw FatalError("Model '" + name() + "' has no weights outside its compiled code.");
}

std::uint64_t Model::update_weights(const TensorMap & tensors, const WeightOptions & options)
{
  return install_weights(prepare_weights(tensors, options));
}

std::uint64_t Model::update_weights(const std::string & file)
{
  // On a CPU the memory is this update's own already.
  return update_weights(weights::read_safetensors(weights::load_file(file), file), {.user_managed = device().is_cpu()});
}

std::shared_ptr<const Failure> Model::last_failure() const
{
  const auto tell = failing();
  return tell ? tell() : nullptr;
}

std::function<std::shared_ptr<const Failure>()> Model::failing() const
{
  return {};
}

std::shared_ptr<const Failure> Model::failure_of(const TensorMap &, const Evaluation & evaluation) const
{
  auto failure = std::make_shared<Failure>();
  failure->model = name();
  failure->n_rows = evaluation.status.numel();
  failure->failed_rows = evaluation.failed_rows;
  const auto iterations = evaluation.iterations.reshape({-1}).to(at::kCPU).contiguous();
  const auto residual =
      evaluation.residual.defined() ? evaluation.residual.reshape({-1}).to(at::kCPU).contiguous() : at::Tensor();
  for (const auto row : evaluation.failed_rows)
  {
    if (std::int64_t(failure->rows.size()) == Failure::max_rows)
      break;
    auto & said = failure->rows.emplace_back();
    said.row = row;
    said.iterations = iterations.const_data_ptr<std::int32_t>()[row];
    said.text = "not converged";
    if (residual.defined())
      said.residuals = {residual.const_data_ptr<double>()[row]};
  }
  return failure;
}

void Model::throw_for_rows(const TensorMap & inputs, const Evaluation & evaluation) const
{
  if (evaluation.ok())
    return;
  if (const auto rows = diagnosis::rows_with(Status::BAD_INPUT, evaluation); !rows.empty())
    diagnosis::throw_bad_input(*this, inputs, evaluation, rows);
  throw ConvergenceError(failure_of(inputs, evaluation)->message(), evaluation.failed_rows);
}
}
