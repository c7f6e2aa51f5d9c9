// A law evaluated by Python in this process, without compiling it: quick to start, slow to run.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "matlaw/Model.h"
#include "matlaw/eager/export.h"

struct _object;

namespace matlaw::eager
{
/// The eager twin of aoti::Model: the same operations and shapes, straight from the input file.
///
/// The process needs a CPython interpreter. When none runs, one is started on first use and never finalised, as torch
/// cannot be imported a second time; a running one is used as it is. libmatlaw_eager.so does not link libpython: a C++
/// host links it (CMake: Python3::Python), a Python process has it. Every call holds the interpreter lock and leaves it
/// as it was, so calls from several threads are safe and take turns.
///
/// What Python raises becomes FatalError, but for ConvergenceError and InputError, which keep type, rows and variable.
class MATLAW_EAGER_API Model final : public matlaw::Model
{
public:
  /// Throws FatalError when the input file is wrong, has no such model, or matlaw cannot be imported.
  Model(const std::string & input, const std::string & model, const std::vector<std::string> & extensions = {});
  /// A model that Python has already: an instance of matlaw.eager.EagerModel (or of a class with its operations).
  explicit Model(_object * eager_model);
  /// The Python object behind this model; a borrowed reference.
  _object * python() const noexcept;
  ~Model() override;
  Model(Model &&) noexcept;
  Model & operator=(Model &&) noexcept;
  Model(const Model &) = delete;
  Model & operator=(const Model &) = delete;

  const Description & description() const override;
  Evaluation evaluate(const TensorMap & inputs, const EvaluateOptions & options = {}) const override;
  std::function<std::shared_ptr<const Failure>()> failing() const override;
  std::pair<TensorMap, TensorMap> jvp(const TensorMap & inputs, const TensorMap & tangents) const override;

  /// The tensors that Python holds: writing into one changes the parameter. Valid until the next call.
  const TensorMap & named_parameters() const override;
  void set_parameter(const std::string & name, const at::Tensor & value) override;
  BlockMap param_jacobian(const TensorMap & inputs) const override;
  TensorMap param_vjp(const TensorMap & inputs, const TensorMap & cotangents) const override;

  /// The parameters of modules, or those that an artifact keeps outside its code.
  const std::vector<WeightInfo> & weight_infos() const override;
  std::shared_ptr<const WeightSet> weights() const override;
  std::uint64_t install_weights(std::shared_ptr<WeightSet> weights) override;

  solve::NewtonConfig solver_config(const std::string & update = "") const override;
  void set_solver_config(const solve::NewtonConfig & config, const std::string & update = "") override;

protected:
  std::shared_ptr<const Failure> failure_of(const TensorMap & inputs, const Evaluation & evaluation) const override;

private:
  struct Impl;
  std::unique_ptr<Impl> _impl;
};
}
