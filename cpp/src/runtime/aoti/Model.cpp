#include "matlaw/aoti/Model.h"

#include <ATen/core/Tensor.h>

#include "aoti/ModelImplementation.h"

namespace matlaw::aoti
{
Model::Model(const std::string & folder, const std::string & name, const LoadOptions & options)
    : _implementation(std::make_unique<Implementation>())
{
  _implementation->load(folder, name, options);
}
Model::~Model() = default;

std::int64_t Model::memory_per_call() const
{
  return _implementation->evaluator->memory_per_call(_implementation->threads_of_a_call(), _implementation->solvers);
}
const std::string & Model::backend() const
{
  return _implementation->backend;
}
const std::string & Model::folder() const
{
  return _implementation->artifact.folder;
}

const Description & Model::description() const
{
  return _implementation->description;
}

Evaluation Model::evaluate(const TensorMap & inputs, const EvaluateOptions & options) const
{
  const auto & self = *_implementation;
  if (options.jacobian && self.description.derivative_pairs.empty())
    self.no_derivatives();
  if (options.jacobian)
    for (const auto & pair : options.pairs)
      self.require_derivative(pair);
  return self.run(inputs, options.jacobian ? Want::JACOBIAN : Want::VALUES, options);
}

PointVerdict Model::evaluate_point(const double * inputs, double * outputs, double * jacobian) const
{
  const auto & self = *_implementation;
  std::vector<at::Tensor> parameters;
  for (const auto & parameter : self.metadata().parameters)
  {
    const auto & value =
        parameters.emplace_back(self.parameters.at(parameter.reported).to(at::kCPU, self.artifact.dtype));
    if (value.numel() != parameter.size)
      throw FatalError("The parameter '" + parameter.reported +
                       "' has one value for each row of a batch; a law that is "
                       "evaluated for single points needs one value. Set it to that.");
  }
  const auto weights = self.weights_in_use();
  const auto verdict =
      self.evaluator->evaluate_point(parameters, self.solvers, weights.get(), inputs, outputs, jacobian);
  if (verdict.status != Status::CONVERGED)
    self.remember_point(inputs, jacobian ? Want::JACOBIAN : Want::VALUES, verdict);
  return verdict;
}
}
