// One call of the law for some or all points.
#include <algorithm>
#include <limits>

#include <ATen/core/Tensor.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include "Implementation.h"
#include "diagnosis/bad_input.h"
#include "merge_evaluations.h"
#include "support/text.h"

namespace matlaw::host
{
Evaluation QuadratureBatch::Impl::call(const TensorMap & inputs, const TensorMap & parameters,
                                       const EvaluateOptions & options, std::int64_t rows, bool blocks_by_row) const
{
  // They hold for this call alone: the law may be shared with other batches.
  TensorMap values = parameters;
  for (const auto & [name, value] : _parameters)
    if (value.constant)
      values.emplace(name, to_law(value.values));
  TensorMap before;
  const auto put_back = [&]
  {
    for (const auto & [name, value] : before)
      model->set_parameter(name, value);
  };
  Evaluation evaluation;
  try
  {
    for (const auto & [name, value] : values)
    {
      const at::Tensor own = model->named_parameters().at(name);
      model->set_parameter(name, value.to(own.scalar_type()));
      before.emplace(name, own);
    }
    evaluation = model->evaluate(inputs, options);
  }
  catch (...)
  {
    put_back();
    throw;
  }
  put_back();
  diagnosis::check_time_advances(*model, inputs, evaluation);
  for (auto & [name, value] : evaluation.outputs)
    value = value.detach().expand(join({rows}, variables.law_shape(name))).contiguous();
  if (blocks_by_row)
    for (auto & [output, row] : evaluation.jacobian)
      for (auto & [input, block] : row)
        block = block.expand(join({rows}, variables.law_block_shape(output, input)));
  return evaluation;
}

std::vector<DerivativePair> QuadratureBatch::Impl::wanted_pairs(bool tangent, bool all) const
{
  const std::string & strain = variables.kinematics().strain;
  const std::string & stress = variables.kinematics().stress;
  std::set<Pair> wanted;
  if (tangent)
    wanted = _asked;
  else
    wanted.emplace(stress, strain);
  if (tangent && !all && _has_tangent)
    // What the other points have.
    for (const auto & [out, row] : _evaluation->jacobian)
      for (const auto & [in, block] : row)
        wanted.emplace(out, in);
  if (tangent && _stress_free && !wanted.empty())
  {
    wanted.emplace(stress, strain);
    for (const auto & [out, in] : _asked)
    {
      wanted.emplace(out, strain);
      wanted.emplace(stress, in);
    }
  }
  // None stands for all.
  if (wanted.size() == variables.tangents().size())
    return {};
  std::vector<DerivativePair> pairs;
  for (const auto & [out, in] : wanted)
    pairs.push_back({out, in});
  return pairs;
}

Verdict QuadratureBatch::Impl::verdict_on(const Evaluation & evaluation, const Rows & rows) const
{
  Verdict said;
  const at::Tensor status = evaluation.status.to(at::kCPU, at::kChar).contiguous();
  const at::Tensor iterations = evaluation.iterations.to(at::kCPU, at::kInt).contiguous();
  const at::Tensor factors = evaluation.dt_factor.to(at::kCPU, at::kDouble).contiguous();
  for (const std::int64_t row : evaluation.failed_rows)
    said.failed_rows.push_back(rows[row]);
  std::sort(said.failed_rows.begin(), said.failed_rows.end());
  said.status.assign(status.const_data_ptr<std::int8_t>(), status.const_data_ptr<std::int8_t>() + status.numel());
  said.iterations.assign(iterations.const_data_ptr<std::int32_t>(),
                         iterations.const_data_ptr<std::int32_t>() + iterations.numel());
  if (evaluation.substeps.defined())
  {
    const at::Tensor substeps = evaluation.substeps.to(at::kCPU, at::kInt).contiguous();
    said.substeps.assign(substeps.const_data_ptr<std::int32_t>(),
                         substeps.const_data_ptr<std::int32_t>() + substeps.numel());
  }
  if (factors.numel() > 0)
    said.dt_factor =
        *std::min_element(factors.const_data_ptr<double>(), factors.const_data_ptr<double>() + factors.numel());
  return said;
}

void QuadratureBatch::Impl::keep_inputs(const Rows & rows, TensorMap inputs)
{
  for (auto & [name, values] : inputs)
  {
    at::Tensor & kept = _evaluated_inputs[name];
    if (!kept.defined())
      kept = at::full(join({n_points}, variables.law_shape(name)), std::numeric_limits<double>::quiet_NaN(),
                      values.options());
    rows.put(kept, values);
  }
}

const Verdict & QuadratureBatch::Impl::evaluate(const Rows & rows, bool tangent)
{
  const bool all = rows.are_all(n_points);
  // The same for all calls of the law that follow from this one.
  const auto weights = model->weights();
  TensorMap inputs = law_inputs(rows);
  const TensorMap parameters = parameters_of(rows);
  EvaluateOptions options;
  options.weights = weights;
  options.jacobian = tangent || _stress_free.has_value();
  if (options.jacobian)
    options.pairs = wanted_pairs(tangent, all);
  std::optional<Evaluation> part;
  if (_stress_free)
  {
    const auto law = [&](const TensorMap & some, const TensorMap & of_some)
    { return call(some, of_some, options, some.at(variables.kinematics().strain).size(0), true); };
    auto solution = _stress_free->solve(law, inputs, parameters);
    part = std::move(solution.evaluation);
    inputs[variables.kinematics().strain] = solution.strain;
  }
  else
    part = call(inputs, parameters, options, rows.size(), !all);
  Verdict said = verdict_on(*part, rows);
  said.weights_version = weights ? weights->version : 0;
  _evaluated_weights = weights;

  if (all)
    drop_results();
  _host_outputs.clear();
  _host_tangents.clear();
  _host_strain.reset();
  _host_stress.reset();
  _committed = false;
  merge_evaluations(_evaluation, rows, std::move(*part), n_points);
  if (reduced())
  {
    const at::Tensor & strain = inputs.at(variables.kinematics().strain);
    if (!_evaluated_strain.defined())
      _evaluated_strain = at::zeros({n_points, 6}, strain.options());
    rows.put(_evaluated_strain, strain);
  }
  // A compiled law computes all its derivatives at once, so nothing has to be kept for it.
  const auto lacks = [this](const Pair & pair) { return !has_block(*_evaluation, pair.first, pair.second); };
  if (tangent && std::any_of(variables.tangents().begin(), variables.tangents().end(), lacks))
    keep_inputs(rows, std::move(inputs));
  else if (!tangent)
    _evaluated_inputs.clear();
  _has_tangent = tangent;
  for (std::int64_t i = 0; i < rows.size(); ++i)
    _stale[static_cast<std::size_t>(rows[i])] = 0;
  verdict = std::move(said);
  say(verdict.failed_rows.empty() ? logging::Level::debug : logging::Level::info,
      [&]
      {
        const auto points = std::to_string(rows.size()) + " of " + std::to_string(n_points) + " points";
        return (tangent ? "evaluated with tangents " : "evaluated ") + points +
               (verdict.failed_rows.empty() ? std::string()
                                            : ", of which " + std::to_string(verdict.failed_rows.size()) + " failed (" +
                                                  support::row_list(verdict.failed_rows) + ")") +
               "; suggested factor of the time step " + support::number_text(verdict.dt_factor);
      });
  return verdict;
}
}
