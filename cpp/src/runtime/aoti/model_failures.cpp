#include <filesystem>

#include <ATen/core/Tensor.h>
#include <ATen/ops/tensor.h>

#include "aoti/ModelImplementation.h"
#include "matlaw/Failure.h"
#include "matlaw/logging.h"
#include "support/torch_threads.h"

namespace matlaw::aoti
{
using artifact::Variable;

void Model::Implementation::remember(const Arguments & arguments, Want want,
                                     const Evaluation & evaluation) const noexcept
{
  try
  {
    auto call = std::make_shared<FailingCall>(metadata(), arguments, want, evaluation);
    if (const auto folder = diagnosis::replay_folder(); !folder.empty())
      call->set_file(diagnosis::write_replay_file(folder, look_into(*call), replay_source(*call)));
    const std::lock_guard lock(failing_mutex);
    failing = std::move(call);
  }
  catch (...)
  {
  }
}

void Model::Implementation::remember_point(const double * inputs, Want want,
                                           const PointVerdict & verdict) const noexcept
{
  try
  {
    support::torch_threads(); // before this thread's first operation
    TensorMap values;
    for (const auto & variable : metadata().inputs)
    {
      auto shape = variable.public_shape();
      shape.insert(shape.begin(), 1);
      values[variable.reported] = at::tensor(at::ArrayRef<double>(inputs, std::size_t(variable.size)), at::kDouble)
                                      .reshape(shape)
                                      .to(artifact.dtype);
      inputs += variable.size;
    }
    Evaluation evaluation;
    evaluation.status = at::tensor({int(verdict.status)}, at::kChar);
    evaluation.failed_rows = {0};
    remember(arguments_of(values), want, evaluation);
    if (logging::enabled(logging::Channel::newton, logging::Level::info))
      logging::write(logging::Channel::newton, logging::Level::info,
                     "Model '" + metadata().name + "': a point failed after " + std::to_string(verdict.iterations) +
                         " iterations.");
  }
  catch (...)
  {
  }
}

const Failure & Model::Implementation::look_into(const FailingCall & call) const
{
  return call.look_into(metadata(), *evaluator);
}

std::shared_ptr<const FailingCall> Model::Implementation::last_failing() const
{
  const std::lock_guard lock(failing_mutex);
  return failing;
}

diagnosis::ReplaySource Model::Implementation::replay_source(const FailingCall & call) const
{
  diagnosis::ReplaySource source;
  source.runtime = "compiled";
  source.artifact = std::filesystem::absolute(artifact.folder).string();
  source.dtype = artifact.dtype == at::kFloat ? "float32" : "float64";
  const auto written = artifact::read_source(artifact.folder);
  source.file = written.file;
  source.text = written.text;
  const auto rename = [&](const Variable & variable)
  {
    if (variable.reported != variable.name)
      source.original_names[variable.reported] = variable.name;
  };
  for (const auto & variable : metadata().inputs)
    rename(variable);
  for (const auto & parameter : metadata().parameters)
    rename(parameter);
  for (std::size_t i = 0; i < call.solvers().size(); i++)
    source.solvers.emplace_back(description.implicit_updates[i], call.solvers()[i]);
  return source;
}

std::function<std::shared_ptr<const Failure>()> Model::failing() const
{
  const auto call = _implementation->last_failing();
  if (!call)
    return {};
  return [call, self = _implementation.get()] { return std::shared_ptr<const Failure>(call, &self->look_into(*call)); };
}

std::shared_ptr<const Failure> Model::failure_of(const TensorMap & inputs, const Evaluation & evaluation) const
{
  const auto & self = *_implementation;
  if (const auto call = self.last_failing(); call && call->fits(evaluation))
    return {call, &self.look_into(*call)};
  // Another thread's call failed meanwhile.
  const auto want = evaluation.jacobian.empty()                 ? Want::VALUES
                    : self.description.derivative_pairs.empty() ? Want::PARAM_JACOBIAN
                                                                : Want::JACOBIAN;
  const auto call = std::make_shared<const FailingCall>(self.metadata(), self.arguments_of(inputs), want, evaluation);
  return {call, &self.look_into(*call)};
}
}
