// A law that runs on several devices at once.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "matlaw/Model.h"
#include "matlaw/dispatch/AggregateError.h"
#include "matlaw/dispatch/Scheduler.h"
#include "matlaw/load_model.h"

namespace matlaw::dispatch
{
/// Sends chunks of a batch to devices, each with a copy of the law and a worker thread, and puts the results together
/// in the order of rows.
///
/// A row's result is that of the device it ran on; where copies are alike, so are results, whatever the chunks.
/// Verdicts are per row as of any law: forward() and jacobian() throw a ConvergenceError with rows of the whole batch.
/// What a copy throws itself (jvp, param_jacobian, param_vjp, and a mistake that it finds) comes as AggregateError. A
/// chunk that does not converge lets the others run on, so failed_rows() is complete; any other error cancels chunks
/// that have not begun. In both cases the call ends when no chunk of it runs any more, and the devices are ready for
/// the next call.
///
/// Calls from several threads share the devices. set_parameter() and set_solver_config() reach every copy and may not
/// run beside calls. A child of fork() has no worker threads: load the law there.
class DispatchedModel final : public matlaw::Model
{
public:
  /// Gives the copy of the law for a device; called once for each entry of Scheduler::devices(), in order.
  using Loader = std::function<std::unique_ptr<Model>(const at::Device & device)>;

  /// Inputs and outputs lie on `home`. Throws FatalError when the copies are not of one law and dtype, or one is not on
  /// its device; and whatever `load` throws.
  DispatchedModel(std::shared_ptr<const Scheduler> scheduler, const Loader & load, const at::Device & home = at::kCPU);
  ~DispatchedModel() override;

  const Scheduler & scheduler() const noexcept;
  /// The copy for scheduler().devices()[device].
  const Model & copy(std::size_t device) const;

  const Description & description() const override;
  Evaluation evaluate(const TensorMap & inputs, const EvaluateOptions & options = {}) const override;
  /// What the copies tell of their chunks.
  std::function<std::shared_ptr<const Failure>()> failing() const override;
  std::pair<TensorMap, TensorMap> jvp(const TensorMap & inputs, const TensorMap & tangents) const override;

  /// The values that were set, on device().
  const TensorMap & named_parameters() const override;
  /// One value for all rows goes to every copy. Of one value per row, a chunk gets those of its rows.
  void set_parameter(const std::string & name, const at::Tensor & value) override;
  /// Blocks with the batch of the call; without it where all rows share one.
  BlockMap param_jacobian(const TensorMap & inputs) const override;
  /// Sums over rows are sums over chunks, in the order of rows.
  TensorMap param_vjp(const TensorMap & inputs, const TensorMap & cotangents) const override;

  /// Those of all copies: a call uses the same everywhere. An update waits for the calls that run, and calls that come
  /// later wait for it.
  const std::vector<WeightInfo> & weight_infos() const override;
  std::shared_ptr<const WeightSet> weights() const override;
  std::uint64_t install_weights(std::shared_ptr<WeightSet> weights) override;

  /// For all copies.
  solve::NewtonConfig solver_config(const std::string & update = "") const override;
  void set_solver_config(const solve::NewtonConfig & config, const std::string & update = "") override;

protected:
  std::shared_ptr<const Failure> failure_of(const TensorMap & inputs, const Evaluation & evaluation) const override;

private:
  struct Implementation;
  std::unique_ptr<Implementation> _implementation;
};

/// The law `name` of an artifact (see matlaw::load_model) on the devices of a scheduler; options.device is where inputs
/// and outputs lie. The artifact needs a build for each kind of device.
std::unique_ptr<DispatchedModel> load_model(const std::string & path, const std::string & name,
                                            std::shared_ptr<const Scheduler> scheduler,
                                            const LoadOptions & options = {});
}
