// The one handle for hosts: a loaded constitutive law, whatever runs it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "matlaw/Reason.h"
#include "matlaw/Weights.h"
#include "matlaw/errors.h"
#include "matlaw/solve/NewtonConfig.h"

namespace matlaw
{
/// Verdict on one row of a batch.
enum class Status : std::int8_t
{
  CONVERGED = 0,
  NOT_CONVERGED = 1,
  BAD_INPUT = 2
};

using TensorMap = std::map<std::string, at::Tensor>;
/// blocks[output][input], each (*B, *out_sub_batch, *out_base, *in_sub_batch, *in_base), or without B where all rows
/// share one block
using BlockMap = std::map<std::string, TensorMap>;

/// One derivative that a model can give.
struct DerivativePair
{
  std::string output;
  std::string input;
  /// The law gives one block for all rows, without a batch axis, whatever the batch. Not looked at in a request.
  bool batch_independent = false;
};

/// A variable and its value at the previous accepted step.
struct StatePair
{
  std::string current;
  std::string old;
  /// true: an output of the law feeds `old`; false: the host's own input `current` does (time, strain ...)
  bool is_state;
  /// Initial value of `old`, (*sub_batch, *base)
  std::vector<double> initial;
};

/// What a law says of its boundary. Lists of inputs, and of outputs, are in one order.
struct Description
{
  std::string name;
  std::vector<std::string> input_names, output_names;
  std::vector<std::vector<std::int64_t>> input_base_shapes, output_base_shapes;
  std::vector<std::vector<std::int64_t>> input_sub_batch_shapes, output_sub_batch_shapes;
  /// Tensor type of each ("Scalar", "SR2", ...)
  std::vector<std::string> input_types, output_types;
  /// Where inputs and outputs lie
  at::Device device = at::kCPU;
  at::ScalarType dtype = at::kDouble;
  /// Derivatives that jacobian() and evaluate() return
  std::vector<DerivativePair> derivative_pairs;
  std::vector<StatePair> state_pairs;
  /// Inputs (t, t~1) that are time and its old value. A row that fails while the one is not after the other is
  /// BAD_INPUT.
  std::vector<std::pair<std::string, std::string>> times;
  /// Names of the implicit updates of the input file, in the order in which they are solved
  std::vector<std::string> implicit_updates;
};

/// What to compute in a call of Model::evaluate.
struct EvaluateOptions
{
  bool jacobian = false;
  /// Derivatives that are needed, when `jacobian`; empty stands for all of derivative_pairs(). A law computes these,
  /// and may compute others too.
  std::vector<DerivativePair> pairs = {};
  /// Write down what every Newton solve did
  bool history = false;
  /// Use these weights, from weights() of the same law; a null pointer stands for those in use when the call begins
  std::shared_ptr<const WeightSet> weights = nullptr;
};

/// What the Newton solves of one implicit segment did. Of a row that took substeps, the last of them.
struct SegmentHistory
{
  std::vector<std::string> unknowns;
  /// (*B, miters + 1) float64: |r| at each iterate, the initial guess first; NaN past the last
  at::Tensor residual;
  /// (*B, miters) float64: part of each Newton step that was taken, as the line search chose it; NaN past the last
  at::Tensor step;
};

/// Outputs and the verdict per row of a call.
struct Evaluation
{
  TensorMap outputs;
  BlockMap jacobian;
  /// (*B) int8, values of Status
  at::Tensor status;
  /// (*B) int32: Newton iterations, the largest over the implicit segments; of a row that took substeps, the sum over
  /// all that it tried
  at::Tensor iterations;
  /// (*B) int32: substeps into which the increment was cut, 1 where it was not; of a row that failed, those it had
  /// completed
  at::Tensor substeps;
  /// (*B) float64: suggested factor for the next time step; below 1 where a row struggled or failed
  at::Tensor dt_factor;
  /// Flattened rows whose status is not CONVERGED, ascending
  std::vector<std::int64_t> failed_rows;
  /// (*B) float64: norm of the last Newton residual, the largest over the implicit segments. May be undefined.
  at::Tensor residual;
  /// With EvaluateOptions::history only: one for each implicit segment
  std::vector<SegmentHistory> history = {};
  /// With EvaluateOptions::history only: (*B) int8, values of Reason, and (*B) int32, see FailedRow::place
  at::Tensor reason = {}, place = {};
  /// Version of the weights that all rows were evaluated with; 0 for a law without
  std::uint64_t weights_version = 0;
  bool ok() const noexcept { return failed_rows.empty(); }
};

struct Failure;

/// A loaded law. Tensors are (*B, *sub_batch, *base). Const calls may run side by side (docs/threads.md).
class Model
{
public:
  virtual ~Model();

  virtual const Description & description() const = 0;
  const std::string & name() const { return description().name; }
  const std::vector<std::string> & input_names() const { return description().input_names; }
  const std::vector<std::string> & output_names() const { return description().output_names; }
  const std::vector<std::vector<std::int64_t>> & input_base_shapes() const { return description().input_base_shapes; }
  const std::vector<std::vector<std::int64_t>> & output_base_shapes() const { return description().output_base_shapes; }
  const std::vector<std::vector<std::int64_t>> & input_sub_batch_shapes() const
  {
    return description().input_sub_batch_shapes;
  }
  const std::vector<std::vector<std::int64_t>> & output_sub_batch_shapes() const
  {
    return description().output_sub_batch_shapes;
  }
  const std::vector<std::string> & input_types() const { return description().input_types; }
  const std::vector<std::string> & output_types() const { return description().output_types; }
  at::Device device() const { return description().device; }
  at::ScalarType dtype() const { return description().dtype; }
  const std::vector<DerivativePair> & derivative_pairs() const { return description().derivative_pairs; }
  const std::vector<StatePair> & state_pairs() const { return description().state_pairs; }
  const std::vector<std::pair<std::string, std::string>> & times() const { return description().times; }
  const std::vector<std::string> & implicit_updates() const { return description().implicit_updates; }

  /// Outputs and the verdict per row. Throws FatalError for a wrong call, never for a row.
  virtual Evaluation evaluate(const TensorMap & inputs, const EvaluateOptions & options = {}) const = 0;
  /// Why rows of the last call failed in which any did, whoever made that call: with several callers at once it is that
  /// of the one that ended last, whole. A null pointer when there was none, or for a law that does not tell.
  std::shared_ptr<const Failure> last_failure() const;
  /// Tells later what last_failure() would tell now: rows are looked into when it is called, once. It must not be
  /// called after the law has gone. Empty when there is nothing to tell.
  virtual std::function<std::shared_ptr<const Failure>()> failing() const;

  /// Outputs. Throws ConvergenceError when a row diverged, InputError for a non-finite input.
  TensorMap forward(const TensorMap & inputs) const;
  /// Outputs, and the derivative along `tangents`: a missing one is zero; their batch may be larger than the inputs'.
  virtual std::pair<TensorMap, TensorMap> jvp(const TensorMap & inputs, const TensorMap & tangents) const = 0;
  /// Outputs and derivative blocks.
  std::pair<TensorMap, BlockMap> jacobian(const TensorMap & inputs) const;

  virtual const TensorMap & named_parameters() const = 0;
  /// Copies `value`, (*param_sub_batch, *param_base) or with *B in front. Throws FatalError for a wrong name, shape,
  /// dtype or device, InputError when it is NaN or infinite. One of named_parameters() that is int64 takes integers
  /// only.
  virtual void set_parameter(const std::string & name, const at::Tensor & value) = 0;
  virtual BlockMap param_jacobian(const TensorMap & inputs) const = 0;
  virtual TensorMap param_vjp(const TensorMap & inputs, const TensorMap & cotangents) const = 0;

  /// Settings of the nonlinear solves of an implicit update, those of the input file until they are set; without a name
  /// those of the first. Throws FatalError when there is no such update, or none at all.
  virtual solve::NewtonConfig solver_config(const std::string & update = "") const;
  /// Sets them, without a name for all implicit updates. Throws FatalError for a value out of range, for settings of an
  /// iterative linear solver where there is a direct one or the other way round, and as solver_config(). May not run
  /// beside calls.
  virtual void set_solver_config(const solve::NewtonConfig & config, const std::string & update = "");

  /// Weights outside the compiled code, in order; empty for a law that has none. See docs/weights.md.
  virtual const std::vector<WeightInfo> & weight_infos() const;
  /// The weights in use; a null pointer for a law that has none. Whoever holds them can go back to them with
  /// EvaluateOptions::weights.
  virtual std::shared_ptr<const WeightSet> weights() const;
  /// Checks and takes all weights of a law, and nothing else: install_weights() puts them to use. Throws FatalError
  /// that names the weight when one is missing or not the law's, has another shape or dtype, or holds NaN or an
  /// infinity, and for a law without weights.
  virtual std::shared_ptr<WeightSet> prepare_weights(const TensorMap & tensors,
                                                     const WeightOptions & options = {}) const;
  /// Every call that begins from now on uses these weights, which prepare_weights() gave and which are installed once.
  /// Calls that run end with those that they began with, which are freed with the last of them. Returns the version.
  virtual std::uint64_t install_weights(std::shared_ptr<WeightSet> weights);
  /// Both in one, beside other calls, those of other threads too: all weights or none. Returns the version.
  std::uint64_t update_weights(const TensorMap & tensors, const WeightOptions & options = {});
  /// From a safetensors file, which is read at once and may change afterwards.
  std::uint64_t update_weights(const std::string & file);

protected:
  /// Numbers of the implicit updates that `update` names, of all where it is empty. Throws FatalError when there is
  /// none.
  std::vector<std::size_t> updates_of(const std::string & update) const;
  /// Throws what evaluate() reported per row: InputError first, then ConvergenceError.
  void throw_for_rows(const TensorMap & inputs, const Evaluation & evaluation) const;
  /// Why the rows of this verdict failed; what the verdict tells when a law does not know more.
  virtual std::shared_ptr<const Failure> failure_of(const TensorMap & inputs, const Evaluation & evaluation) const;
};
}
