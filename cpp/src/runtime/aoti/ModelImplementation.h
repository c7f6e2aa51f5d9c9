// What aoti::Model is made of. The calls of each kind have a file model_*.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "aoti/Evaluator.h"
#include "aoti/FailingCall.h"
#include "artifact/Artifact.h"
#include "diagnosis/replay_file.h"
#include "matlaw/aoti/Model.h"

namespace matlaw::aoti
{
struct Model::Implementation
{
  artifact::Artifact artifact;
  std::int64_t threads = 0;
  std::string backend;
  Graphs graphs;
  std::unique_ptr<Evaluator> evaluator;
  TensorMap parameters;
  /// Settings of the implicit updates, in order
  std::vector<solve::NewtonConfig> solvers;
  std::vector<WeightInfo> weight_infos;
  mutable std::mutex weights_mutex;
  /// In use; a null pointer where there are none
  std::shared_ptr<const WeightSet> weights;
  mutable std::mutex failing_mutex;
  /// The last call in which rows failed
  mutable std::shared_ptr<const FailingCall> failing;

  Description description;
  std::vector<std::string> parameter_names;

  const artifact::Metadata & metadata() const { return artifact.metadata; }

  // model_loading.cpp
  void load(const std::string & folder, const std::string & name, const LoadOptions & options);
  void load_graphs();
  void load_weights();
  void describe();
  void say_what_was_loaded() const;

  // model_calls.cpp
  /// Checks the names and tensors of a call.
  Arguments arguments_of(const TensorMap & inputs) const;
  std::int64_t threads_of_a_call() const;
  Evaluation run(const TensorMap & inputs, Want want, const EvaluateOptions & options = {}) const;
  Evaluation run(Arguments arguments, Want want, const EvaluateOptions & options = {},
                 const TakeBlocks & take = {}) const;
  void say_verdict(const Evaluation & evaluation) const;
  [[noreturn]] void no_derivatives() const;
  void require_derivative(const DerivativePair & pair) const;

  // model_failures.cpp
  /// Keeps what is needed to look into a failing call later, and writes its replay file when that is asked for.
  /// Whatever goes wrong here is not the call's problem.
  void remember(const Arguments & arguments, Want want, const Evaluation & evaluation) const noexcept;
  /// ... of a point, whose inputs stand side by side.
  void remember_point(const double * inputs, Want want, const PointVerdict & verdict) const noexcept;
  const Failure & look_into(const FailingCall & call) const;
  std::shared_ptr<const FailingCall> last_failing() const;
  diagnosis::ReplaySource replay_source(const FailingCall & call) const;

  // model_parameters.cpp
  void need_parameter_derivatives() const;

  // model_weights.cpp
  std::shared_ptr<const WeightSet> weights_in_use() const;
};
}
