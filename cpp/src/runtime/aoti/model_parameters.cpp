#include <ATen/core/Tensor.h>

#include "aoti/ModelImplementation.h"
#include "aoti/ParameterGradients.h"
#include "aoti/call_checks.h"

namespace matlaw::aoti
{
const TensorMap & Model::named_parameters() const
{
  return _implementation->parameters;
}

void Model::set_parameter(const std::string & name, const at::Tensor & value)
{
  auto & self = *_implementation;
  check_names("promoted parameter", this->name(), {{name, value}}, self.parameter_names, false);
  for (const auto & parameter : self.metadata().parameters)
    if (parameter.reported == name)
    {
      auto & kept = self.parameters[name];
      const auto checked = parameter_value(this->name(), parameter, value, kept.scalar_type(), self.artifact.device);
      auto shape = batch_shape(parameter, checked);
      const auto own = parameter.public_shape();
      shape.insert(shape.end(), own.begin(), own.end());
      kept = checked.expand(shape).clone(at::MemoryFormat::Contiguous);
    }
}

void Model::Implementation::need_parameter_derivatives() const
{
  if (!metadata().param_derivatives.empty())
    return;
  const auto & known = parameter_names;
  throw FatalError("The artifact '" + artifact.folder + "' of model '" + metadata().name +
                   "' holds no derivatives by parameters. Regenerate it via matlaw-compile -p NAME -d OUT:NAME (" +
                   (known.empty() ? "it has no promoted parameters" : "for instance -d :" + known[0]) +
                   "), or take them from the eager runtime.");
}

BlockMap Model::param_jacobian(const TensorMap & inputs) const
{
  _implementation->need_parameter_derivatives();
  auto evaluation = _implementation->run(inputs, Want::PARAM_JACOBIAN);
  throw_for_rows(inputs, evaluation);
  return std::move(evaluation.jacobian);
}

TensorMap Model::param_vjp(const TensorMap & inputs, const TensorMap & cotangents) const
{
  const auto & self = *_implementation;
  self.need_parameter_derivatives();
  check_names("output", name(), cotangents, self.description.output_names, false);
  auto arguments = self.arguments_of(inputs);
  ParameterGradients gradients(self.metadata(), self.artifact.folder, self.artifact.dtype, self.artifact.device,
                               arguments, cotangents);
  const auto evaluation = self.run(std::move(arguments), Want::PARAM_JACOBIAN, {},
                                   [&](std::int64_t first, std::int64_t rows, const BlockMap & blocks)
                                   { gradients.add(first, rows, blocks); });
  throw_for_rows(inputs, evaluation);
  return gradients.take();
}
}
