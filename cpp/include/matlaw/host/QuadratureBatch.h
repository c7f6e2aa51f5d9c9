// What every finite-element host otherwise writes itself: a law evaluated at a fixed number of points, with its state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "matlaw/Span.h"
#include "matlaw/host/Kinematics.h"

namespace matlaw
{
class Model;
}

namespace matlaw::host
{
/// What a call of QuadratureBatch::evaluate says.
struct Verdict
{
  /// Points that failed, ascending. Their outputs are NaN.
  std::vector<std::int64_t> failed_rows;
  /// One Status per point evaluated, in their order: 0 converged, 1 not converged, 2 bad input.
  std::vector<std::int8_t> status;
  /// Newton iterations per point.
  std::vector<std::int32_t> iterations;
  /// Substeps per point; empty for a law that does not tell.
  std::vector<std::int32_t> substeps;
  /// Suggested factor for the next time step: the smallest over the points, 1 without points.
  double dt_factor = 1.0;
  bool ok() const noexcept { return failed_rows.empty(); }
  /// Version of the weights that all of these points were evaluated with; 0 for a law without
  std::uint64_t weights_version = 0;
};

/// A law at `n_points` quadrature points: its inputs, outputs, tangent and state.
///
/// All values are double, per point, row-major `(n_points, size)` with symmetric tensors in Mandel components;
/// a law in float32, or on another device, is converted here. This header needs no torch.
///
/// A step of a host:
///
///     batch.set_input("strain", strain);          // (n_points, 6)
///     batch.set_input("t", time);
///     if (batch.evaluate(true).ok()) { ... batch.output("stress") ... batch.tangent("stress", "strain") ... }
///     batch.commit();   // the step was accepted: x -> x~1;   or batch.revert(): it was not
///
/// The old state (`x~1`) changes in commit(), set_state(), restore(), remap() and resize() only, so a step that failed
/// can be tried again from it. A variable `x~1` of a state pair belongs to the batch: with role `state` the output `x`
/// feeds it, with role `force` the host's own input `x` does (time, strain). Every wrong call throws FatalError, naming
/// the variable, and changes nothing. A batch serves one thread at a time; batches may share a model, in several
/// threads where none of them sets parameters.
///
/// With Kinematics the strain and stress of the host have fewer than six components, here in set_input(), output(),
/// tangent() and shape(); old variables are always the law's own. Where components are free of stress, evaluate()
/// finds their strain point by point, starting from that of the last commit(), and the tangents are consistent with it.
class QuadratureBatch
{
public:
  /// Starts from the initial state that the law declares.
  QuadratureBatch(std::shared_ptr<Model> model, std::int64_t n_points, const Kinematics & kinematics = {});
  ~QuadratureBatch();
  QuadratureBatch(QuadratureBatch &&) noexcept;
  QuadratureBatch & operator=(QuadratureBatch &&) noexcept;
  QuadratureBatch(const QuadratureBatch &) = delete;
  QuadratureBatch & operator=(const QuadratureBatch &) = delete;

  std::int64_t n_points() const noexcept;
  const std::shared_ptr<Model> & model() const noexcept;
  /// With the names of strain and stress that were found, when it is not three-dimensional.
  const Kinematics & kinematics() const noexcept;

  /// Inputs that the host sets: those of the law but for the old variables of its state pairs.
  const std::vector<std::string> & input_names() const noexcept;
  const std::vector<std::string> & output_names() const noexcept;
  /// Old variables, `x~1`, that the batch keeps.
  const std::vector<std::string> & state_names() const noexcept;
  /// Derivatives `(output, input)` that tangent() offers.
  const std::vector<std::pair<std::string, std::string>> & tangent_names() const noexcept;
  /// Shape of one value of an input, output or old variable: `(*sub_batch, *base)`.
  const std::vector<std::int64_t> & shape(const std::string & variable) const;
  /// Shape without sub-batch of one value of an input.
  const std::vector<std::int64_t> & base_shape(const std::string & input) const;
  /// Number of components of one value.
  std::int64_t size(const std::string & variable) const;

  /// Copies `(n_points, size)` values of an input.
  void set_input(const std::string & name, Span<const double> values);
  void set_input(const std::string & name, const double * values);
  /// The same number at every point, for a scalar.
  void set_input(const std::string & name, double value);
  /// The same value, `(size)`, at every point.
  void set_constant(const std::string & name, Span<const double> value);
  /// Copies `(points, size)` values for some points. Those that never get a value are NaN.
  void set_input(const std::string & name, Span<const std::int64_t> points, Span<const double> values);

  /// A parameter of the law for this batch alone: `(n_points, size)` values, one per point, or `(size)` for all points.
  /// Drops the results. A compiled law has the parameters that it was compiled with -p for.
  void set_parameter(const std::string & name, Span<const double> values);
  /// Number of components of a parameter.
  std::int64_t parameter_size(const std::string & name) const;

  /// Gives the law the weights in a safetensors file, which the next evaluate() uses, here and in other batches of the
  /// law; results stay. Tensors go to model()->update_weights(). Returns the version; throws FatalError, and the law
  /// keeps its weights, when one does not fit.
  std::uint64_t update_weights(const std::string & file);

  /// Outputs, and with `tangent` the derivatives, for the inputs set and the old state. Does not throw for points. Once
  /// tangent() was asked for some derivatives, a law that is evaluated eagerly computes these and no others.
  const Verdict & evaluate(bool tangent = false);
  /// The same for some points, or for points `begin` ... `end - 1`; the verdict is on these. The others keep their
  /// results, or are NaN when they have none; their derivatives are NaN when they were evaluated without.
  const Verdict & evaluate_points(Span<const std::int64_t> points, bool tangent = false);
  const Verdict & evaluate_range(std::int64_t begin, std::int64_t end, bool tangent = false);
  /// What the last evaluate() said.
  const Verdict & verdict() const;

  /// Values `(n_points, size)` of an output of the last evaluate(); valid until the next evaluate() or resize().
  const double * output(const std::string & name) const;
  /// Derivatives `(n_points, size of out, size of in)`; blocks that are equal at every point are expanded. One
  /// that the last evaluate() left out is computed now.
  const double * tangent(const std::string & out, const std::string & in) const;
  /// Values `(n_points, size)` of an old variable; valid until the state changes.
  const double * state(const std::string & name) const;
  /// All six components of the strain and stress of a hypothesis other than three-dimensional, `(n_points, 6)`.
  const double * full_strain() const;
  const double * full_stress() const;

  /// The same for a host that keeps the values for longer: they live as long as the pointer does.
  std::shared_ptr<const double> share_output(const std::string & name) const;
  std::shared_ptr<const double> share_tangent(const std::string & out, const std::string & in) const;
  std::shared_ptr<const double> share_state(const std::string & name) const;
  std::shared_ptr<const double> share_full_strain() const;
  std::shared_ptr<const double> share_full_stress() const;

  /// The step was accepted: the current variables become the old ones. Throws FatalError when the last evaluate()
  /// failed at some point, when there was none, or when some point was not evaluated since an input was set.
  void commit();
  /// Throws what commit() would throw, for a host that commits several batches or none.
  void check_commit() const;
  /// The step was rejected: inputs go back to their values of the last commit(), bit for bit (those that no commit()
  /// has seen yet keep theirs), results are dropped. The old state needs no restoring.
  void revert();

  /// Replaces the old variable `x~1`, `(n_points, size)`: a given initial field. Drops the results.
  void set_state(const std::string & name, Span<const double> values);
  void set_state(const std::string & name, const double * values);
  void set_state(const std::string & name, Span<const std::int64_t> points, Span<const double> values);

  /// The state, the parameters set and the inputs of the last commit(), for a restart; independent of the machine's
  /// word order.
  std::vector<std::byte> save() const;
  /// Takes back what save() gave. Throws FatalError, and changes nothing, when the bytes are damaged or
  /// belong to another law, another number of points, other variables or another version.
  void restore(Span<const std::byte> bytes);

  /// A mesh that changed: the batch has `from.size()` points from now on, and new point i takes the state of the old
  /// point `from[i]`, or the initial state where that is -1. Several new points may take one old point. Inputs and
  /// parameters set per point move along where every new point has an old one; otherwise they have to be set anew.
  /// Constants stay; results are dropped.
  void remap(Span<const std::int64_t> from);
  /// remap() that keeps the first points.
  void resize(std::int64_t n_points);

private:
  class Impl;
  std::unique_ptr<Impl> _impl;
};
}
