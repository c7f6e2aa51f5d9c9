// A law compiled ahead of time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "matlaw/Model.h"
#include "matlaw/aoti/errors.h"
#include "matlaw/load_model.h"

namespace matlaw::aoti
{
/// What a call of Model::evaluate_point says; the entries are those of an Evaluation for one row.
struct PointVerdict
{
  Status status = Status::NOT_CONVERGED;
  std::int32_t iterations = 0;
  double dt_factor = 1.0;
  double residual = 0.0;
  std::int32_t substeps = 0;
};

/// Evaluates an artifact in cache-sized chunks of rows, on several threads.
///
/// A row's result does not depend on the other rows, the chunking or the number of threads: the same bits with native
/// kernels, to 1e-14 relative with .pt2 graphs. evaluate() and what is built on it may be called from many
/// threads at once, and update_weights() beside them; set_parameter() may not run beside them.
class Model final : public matlaw::Model
{
public:
  /// Loads the artifact in `folder`, which holds metadata.json. Throws FatalError as matlaw::load_model does.
  Model(const std::string & folder, const std::string & name, const LoadOptions & options);
  ~Model() override;

  const Description & description() const override;
  Evaluation evaluate(const TensorMap & inputs, const EvaluateOptions & options = {}) const override;
  /// The first rows are run again, alone and recorded, when this is first asked.
  std::function<std::shared_ptr<const Failure>()> failing() const override;
  /// One row, from plain numbers and without tensors: for hosts that call a law point by point.
  ///
  /// `inputs` holds the values of all inputs side by side, in the order of input_names(), each (*sub_batch, *base) row
  /// by row. `outputs` is written likewise, and `jacobian`, unless it is null, with the blocks of derivative_pairs(),
  /// in that order; all NaN when the row failed. Allocates nothing once a thread's first call is over. Throws
  /// FatalError when a parameter has a batch.
  PointVerdict evaluate_point(const double * inputs, double * outputs, double * jacobian) const;
  std::pair<TensorMap, TensorMap> jvp(const TensorMap & inputs, const TensorMap & tangents) const override;

  /// Promoted parameters; empty when all were baked in.
  const TensorMap & named_parameters() const override;
  void set_parameter(const std::string & name, const at::Tensor & value) override;
  /// blocks[output][parameter], each (*B, *out_sub_batch, *out_base, *param_sub_batch, *param_base) or without B where
  /// all rows share one block, of the pairs that the law was compiled with (-d OUT:PARAM). Throw FatalError when there
  /// are none, ConvergenceError and InputError as jacobian() does.
  BlockMap param_jacobian(const TensorMap & inputs) const override;
  /// The derivative of sum(cotangent * output) by each parameter that has derivatives, of the shape of the parameter's
  /// value: per row where it has one value per row, the sum over the rows that share a value otherwise. A missing
  /// cotangent is zero; a given one may have a batch that broadcasts to that of the call. Throws FatalError where a
  /// needed pair was not compiled.
  TensorMap param_vjp(const TensorMap & inputs, const TensorMap & cotangents) const override;

  /// Those of a law that was compiled with --external-weights.
  const std::vector<WeightInfo> & weight_infos() const override;
  std::shared_ptr<const WeightSet> weights() const override;
  std::uint64_t install_weights(std::shared_ptr<WeightSet> weights) override;

  solve::NewtonConfig solver_config(const std::string & update = "") const override;
  void set_solver_config(const solve::NewtonConfig & config, const std::string & update = "") override;

  /// Bytes that a call works in at most, with all derivatives and the threads that it would have now; what
  /// LoadOptions.max_bytes bounds. Independent of the number of rows.
  std::int64_t memory_per_call() const;

  /// What evaluates the graphs: "native", "inductor", or "native+inductor" where only some have a native kernel.
  const std::string & backend() const;
  /// The artifact's folder.
  const std::string & folder() const;

protected:
  std::shared_ptr<const Failure> failure_of(const TensorMap & inputs, const Evaluation & evaluation) const override;

private:
  struct Implementation;
  std::unique_ptr<Implementation> _implementation;
};
}
