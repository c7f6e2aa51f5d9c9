// Values that the host sets: inputs and parameters.
#include <algorithm>
#include <cstring>
#include <limits>

#include <ATen/core/Tensor.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include "Implementation.h"

namespace matlaw::host
{
void QuadratureBatch::Impl::set_input(const std::string & name, const double * values, bool constant)
{
  variables.require_input(name);
  Value & input = _inputs[name];
  const Shape wanted = constant ? variables.host_shape(name) : batched(variables.host_shape(name));
  if (!input.values.defined() || is_shared(input.values) || input.values.sizes() != at::IntArrayRef(wanted))
    input.values = copy_of(values, wanted);
  else if (input.values.numel() > 0)
    std::memcpy(input.values.mutable_data_ptr<double>(), values,
                sizeof(double) * static_cast<std::size_t>(input.values.numel()));
  input.constant = constant;
  mark_stale();
}

void QuadratureBatch::Impl::set_input(const std::string & name, const Rows & rows, const double * values)
{
  variables.require_input(name);
  const Shape & shape = variables.host_shape(name);
  Value & input = _inputs[name];
  if (!input.values.defined())
    input.values = at::full(batched(shape), std::numeric_limits<double>::quiet_NaN(), host_options());
  else if (input.constant)
    input.values = input.values.expand(batched(shape)).contiguous();
  input.constant = false;
  rows.put(input.values, copy_of(values, join({rows.size()}, shape)));
  for (std::int64_t i = 0; i < rows.size(); ++i)
    _stale[static_cast<std::size_t>(rows[i])] = 1;
}

Shape QuadratureBatch::Impl::parameter_shape(const std::string & name) const
{
  const TensorMap & known = model->named_parameters();
  const auto found = known.find(name);
  if (found != known.end())
    return found->second.sizes().vec();
  std::vector<std::string> names;
  for (const auto & [known_name, value] : known)
    names.push_back(known_name);
  throw FatalError(batch() + " has no parameter '" + name + "'; there are: " + list(names) +
                   ". A compiled law keeps the parameters that it was compiled with -p for");
}

void QuadratureBatch::Impl::set_parameter(const std::string & name, const double * values, bool constant)
{
  const Shape shape = parameter_shape(name);
  auto copy = copy_of(values, constant ? shape : batched(shape));
  const bool integers = model->named_parameters().at(name).scalar_type() == at::kLong;
  if (integers && !copy.sub(copy.trunc()).eq(0).all().item<bool>())
    throw FatalError(batch() + ": the values of parameter '" + name + "' have to be integers");
  _parameters[name] = {std::move(copy), constant};
  drop_results();
}

at::Tensor QuadratureBatch::Impl::law_strain(const at::Tensor & host_strain, const Rows & rows) const
{
  const Hypothesis hypothesis = variables.kinematics().hypothesis;
  at::Tensor strain = at::zeros({rows.size(), 6}, host_options());
  const auto put = [&](Span<const int> components, const at::Tensor & values)
  {
    for (std::size_t i = 0; i < components.size(); ++i)
      strain.select(1, components[i]).copy_(values.select(1, static_cast<std::int64_t>(i)));
  };
  put(host_components(hypothesis), host_strain);
  if (_stress_free)
    put(stress_free_components(hypothesis), rows.take(_free_strain));
  return strain;
}

TensorMap QuadratureBatch::Impl::law_inputs(const Rows & rows) const
{
  TensorMap inputs;
  for (const auto & name : variables.host_inputs())
  {
    const auto found = _inputs.find(name);
    if (found == _inputs.end())
      throw FatalError(batch() + ": input '" + name + "' was not set; call set_input before evaluate");
    const Value & input = found->second;
    at::Tensor values = input.constant ? input.values : rows.take(input.values);
    const Shape wanted = join({rows.size()}, variables.host_shape(name));
    if (variables.is_reduced(name))
      values = law_strain(values.expand(wanted), rows);
    values = to_law(values);
    inputs.emplace(name, input.constant && !variables.is_reduced(name) ? values.expand(wanted) : values);
  }
  for (const auto & [name, values] : _states)
    inputs.emplace(name, rows.take(values));
  return inputs;
}

TensorMap QuadratureBatch::Impl::parameters_of(const Rows & rows) const
{
  TensorMap parameters;
  for (const auto & [name, value] : _parameters)
  {
    if (!value.values.defined())
      throw FatalError(batch() + ": parameter '" + name +
                       "' was set per point, and the points changed; call set_parameter before evaluate");
    if (!value.constant)
      parameters.emplace(name, to_law(rows.take(value.values)));
  }
  return parameters;
}
}
