#include <ATen/core/Tensor.h>

#include "aoti/ModelImplementation.h"
#include "aoti/call_checks.h"
#include "matlaw/logging.h"
#include "on_device.h"
#include "support/text.h"
#include "support/torch_threads.h"

namespace matlaw::aoti
{
using artifact::Variable;

Arguments Model::Implementation::arguments_of(const TensorMap & inputs) const
{
  check_names("input", metadata().name, inputs, description.input_names, true);
  Arguments arguments;
  arguments.solvers = solvers;
  arguments.weights = weights_in_use();
  const auto take = [&](const char * what, const Variable & variable, const at::Tensor & value)
  {
    check_tensor(what, variable, value, artifact.dtype, artifact.device);
    arguments.batch.join(variable.reported, variable, value);
    const auto plain = value.is_neg() ? value.resolve_neg() : value;
    // The solver runs on the CPU, whatever the graphs run on.
    return plain.is_cpu() ? plain : plain.to(at::kCPU);
  };
  arguments.inputs.reserve(metadata().inputs.size());
  for (const auto & variable : metadata().inputs)
    arguments.inputs.push_back(take("Input", variable, inputs.at(variable.reported)));
  for (const auto & parameter : metadata().parameters)
  {
    const auto & value = parameters.at(parameter.reported);
    arguments.parameters.push_back(take("Parameter", parameter, parameter.integers ? value.to(artifact.dtype) : value));
  }
  arguments.batch.refuse_columns();
  return arguments;
}

std::int64_t Model::Implementation::threads_of_a_call() const
{
  const auto of_torch = support::torch_threads();
  return threads ? threads : of_torch;
}

Evaluation Model::Implementation::run(const TensorMap & inputs, Want want, const EvaluateOptions & options) const
{
  return run(arguments_of(inputs), want, options);
}

Evaluation Model::Implementation::run(Arguments arguments, Want want, const EvaluateOptions & options,
                                      const TakeBlocks & take) const
{
  arguments.history = options.history;
  if (options.weights)
  {
    if (options.weights->pointers.size() != weight_infos.size())
      throw FatalError("EvaluateOptions.weights are not those of model '" + metadata().name + "'.");
    arguments.weights = options.weights;
  }
  auto evaluation = evaluator->evaluate(arguments, want, threads_of_a_call(), take);
  if (!evaluation.ok())
    remember(arguments, want, evaluation);
  if (logging::enabled(logging::Channel::newton, logging::Level::info))
    say_verdict(evaluation);
  if (!artifact.device.is_cpu())
    move_to(evaluation, artifact.device);
  return evaluation;
}

void Model::Implementation::say_verdict(const Evaluation & evaluation) const
{
  const auto rows = std::to_string(evaluation.status.numel());
  const auto most =
      evaluation.status.numel() ? std::to_string(evaluation.iterations.max().item<std::int32_t>()) : std::string("0");
  logging::write(logging::Channel::newton, evaluation.ok() ? logging::Level::debug : logging::Level::info,
                 "Model '" + metadata().name + "': " +
                     (evaluation.ok() ? rows + " rows converged"
                                      : std::to_string(evaluation.failed_rows.size()) + " of " + rows +
                                            " rows failed (" + support::row_list(evaluation.failed_rows) + ")") +
                     ", at most " + most + " iterations.");
}

void Model::Implementation::no_derivatives() const
{
  throw FatalError("The artifact '" + artifact.folder + "' of model '" + metadata().name +
                   "' was compiled without derivatives. Regenerate it via matlaw-compile -d OUT:IN (for instance -d " +
                   (description.output_names.empty() || description.input_names.empty()
                        ? "OUT:IN"
                        : description.output_names[0] + ":" + description.input_names[0]) +
                   ").");
}

void Model::Implementation::require_derivative(const DerivativePair & pair) const
{
  std::vector<std::string> known;
  for (const auto & other : description.derivative_pairs)
  {
    if (other.output == pair.output && other.input == pair.input)
      return;
    known.push_back(other.output + ":" + other.input);
  }
  const auto name = pair.output + ":" + pair.input;
  throw FatalError("The artifact '" + artifact.folder + "' of model '" + metadata().name + "' has no derivative '" +
                   name + "'; it has " + support::quoted_list(known) + "." + support::did_you_mean(name, known) +
                   " matlaw-compile -d OUT:IN adds others.");
}
}
