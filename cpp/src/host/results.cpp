// What the last evaluation gave, as the host sees it.
#include <algorithm>

#include <ATen/core/Tensor.h>
#include <ATen/ops/tensor.h>

#include "Implementation.h"
#include "merge_evaluations.h"

namespace matlaw::host
{
namespace
{
at::Tensor select(const at::Tensor & tensor, std::int64_t axis, Hypothesis hypothesis)
{
  const auto components = host_components(hypothesis);
  const auto index = at::tensor(std::vector<std::int64_t>(components.begin(), components.end()), at::kLong);
  return tensor.index_select(axis, index.to(tensor.device()));
}
}

const Evaluation & QuadratureBatch::Impl::evaluated() const
{
  if (!_evaluation)
    throw FatalError(batch() + ": there are no results; call evaluate first");
  return *_evaluation;
}

const at::Tensor & QuadratureBatch::Impl::output(const std::string & name) const
{
  variables.require_output(name);
  const at::Tensor & values = evaluated().outputs.at(name);
  at::Tensor & cached = _host_outputs[name];
  if (!cached.defined())
    cached = to_host(variables.is_reduced(name) ? select(values, 1, variables.kinematics().hypothesis) : values);
  return cached;
}

at::Tensor QuadratureBatch::Impl::law_block(const std::string & out, const std::string & in) const
{
  const Shape shape = batched(variables.law_block_shape(out, in));
  if (has_block(*_evaluation, out, in))
    return _evaluation->jacobian.at(out).at(in).expand(shape);
  const EvaluateOptions options{.jacobian = true, .pairs = {{out, in}}, .weights = _evaluated_weights};
  const auto blocks = call(_evaluated_inputs, parameters_of(Rows::all(n_points)), options, n_points, true).jacobian;
  return blocks.at(out).at(in);
}

const at::Tensor & QuadratureBatch::Impl::tangent(const std::string & out, const std::string & in) const
{
  variables.require_tangent(out, in);
  const std::string & strain = variables.kinematics().strain;
  const std::string & stress = variables.kinematics().stress;
  const Hypothesis hypothesis = variables.kinematics().hypothesis;
  if (_stress_free)
  {
    variables.require_tangent(out, strain);
    variables.require_tangent(stress, in);
  }
  evaluated();
  if (!_has_tangent)
    throw FatalError(batch() + ": the last evaluate computed no derivatives; call evaluate with tangent = true");
  const Pair key(out, in);
  _asked.insert(key);
  const auto found = _host_tangents.find(key);
  if (found != _host_tangents.end())
    return found->second;
  at::Tensor block = law_block(out, in);
  if (_stress_free)
    block = _stress_free->condense(block, law_block(out, strain), law_block(stress, in), law_block(stress, strain));
  if (variables.is_reduced(out))
    block = select(block, 1, hypothesis);
  if (variables.is_reduced(in))
    block = select(block, block.dim() - 1, hypothesis);
  return _host_tangents[key] = to_host(block);
}

const at::Tensor & QuadratureBatch::Impl::full_strain() const
{
  if (!reduced())
    throw FatalError(batch() + ": full_strain is for a hypothesis other than '3d'; the strain is the input set");
  evaluated();
  if (!_host_strain.defined())
    _host_strain = to_host(_evaluated_strain);
  return _host_strain;
}

const at::Tensor & QuadratureBatch::Impl::full_stress() const
{
  if (!reduced())
    throw FatalError(batch() + ": full_stress is for a hypothesis other than '3d'; use output");
  const Evaluation & evaluation = evaluated();
  if (!_host_stress.defined())
    _host_stress = to_host(evaluation.outputs.at(variables.kinematics().stress));
  return _host_stress;
}
}
