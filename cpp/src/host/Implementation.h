// What a QuadratureBatch holds and does; QuadratureBatch.cpp forwards to it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "Rows.h"
#include "StressFree.h"
#include "Variables.h"
#include "matlaw/Model.h"
#include "matlaw/Span.h"
#include "matlaw/host/QuadratureBatch.h"
#include "matlaw/logging.h"
#include "tensors.h"

namespace matlaw::host
{
/// Tensors are never written to once something else holds them: states may then alias outputs and outputs may be
/// shared.
class QuadratureBatch::Impl
{
public:
  Impl(std::shared_ptr<Model> model, std::int64_t n_points, const Kinematics & kinematics);

  /// A value that the host set: double, on the CPU.
  struct Value
  {
    /// (n_points, *shape), or (*shape) for a constant; undefined for a parameter that has to be set anew
    at::Tensor values;
    bool constant = false;
  };

  // points.cpp
  Rows range(std::int64_t begin, std::int64_t end) const;
  Rows rows(Span<const std::int64_t> points) const;
  void remap(Span<const std::int64_t> from);

  // inputs.cpp
  void set_input(const std::string & name, const double * values, bool constant);
  void set_input(const std::string & name, const Rows & rows, const double * values);
  Shape parameter_shape(const std::string & name) const;
  void set_parameter(const std::string & name, const double * values, bool constant);

  // evaluate.cpp
  const Verdict & evaluate(const Rows & rows, bool tangent);

  // results.cpp
  const Evaluation & evaluated() const;
  const at::Tensor & output(const std::string & name) const;
  const at::Tensor & tangent(const std::string & out, const std::string & in) const;
  const at::Tensor & full_strain() const;
  const at::Tensor & full_stress() const;

  // state.cpp
  const at::Tensor & state(const std::string & name) const;
  void set_state(const std::string & name, const double * values);
  void set_state(const std::string & name, const Rows & rows, const double * values);
  void check_commit() const;
  void commit();
  void revert();

  // restart.cpp
  std::vector<std::byte> save() const;
  void restore(Span<const std::byte> bytes);

  std::string batch() const { return variables.batch(); }
  /// Writes on the channel of hosts what `text()` makes, where somebody listens.
  template <typename Text>
  void say(logging::Level level, const Text & text) const
  {
    if (logging::enabled(logging::Channel::host, level))
      logging::write(logging::Channel::host, level, batch() + ": " + text());
  }

  std::shared_ptr<Model> model;
  std::int64_t n_points;
  Variables variables;
  Verdict verdict;

private:
  using Pair = std::pair<std::string, std::string>;

  Shape batched(const Shape & shape) const { return join({n_points}, shape); }
  at::Tensor to_law(const at::Tensor & tensor) const;
  at::Tensor initial_state(const StatePair & pair, std::int64_t rows) const;
  /// Strain and stress are those of a hypothesis.
  bool reduced() const { return variables.kinematics().hypothesis != Hypothesis::THREE_DIMENSIONAL; }
  void drop_results();
  void mark_stale();

  TensorMap law_inputs(const Rows & rows) const;
  at::Tensor law_strain(const at::Tensor & host_strain, const Rows & rows) const;
  TensorMap parameters_of(const Rows & rows) const;
  Evaluation call(const TensorMap & inputs, const TensorMap & parameters, const EvaluateOptions & options,
                  std::int64_t rows, bool blocks_by_row) const;
  std::vector<DerivativePair> wanted_pairs(bool tangent, bool all) const;
  Verdict verdict_on(const Evaluation & evaluation, const Rows & rows) const;
  void keep_inputs(const Rows & rows, TensorMap inputs);
  /// A derivative as the law gives it, with the points first.
  at::Tensor law_block(const std::string & out, const std::string & in) const;

  std::optional<StressFree> _stress_free;
  std::map<std::string, Value> _inputs;
  std::map<std::string, Value> _committed_inputs;
  std::map<std::string, Value> _parameters;
  /// Old variables as the law takes them: (n_points, *shape), dtype and device of the law.
  std::map<std::string, at::Tensor> _states;
  /// Strain of the stress-free components at the last commit, (n_points, components), double: where the next solve
  /// starts, so that it does not depend on evaluations in between.
  at::Tensor _free_strain;

  std::optional<Evaluation> _evaluation;
  /// What that was an evaluation of, when it left out some derivatives.
  TensorMap _evaluated_inputs;
  /// Of the last evaluate(); a null pointer for a law without
  std::shared_ptr<const WeightSet> _evaluated_weights;
  /// All six components of the strain of that evaluation under a hypothesis, as the law took them.
  at::Tensor _evaluated_strain;
  bool _has_tangent = false;
  bool _committed = false;
  /// Points that were not evaluated since one of their inputs was set or the step was committed.
  std::vector<std::uint8_t> _stale;

  mutable std::map<std::string, at::Tensor> _host_outputs;
  mutable std::map<Pair, at::Tensor> _host_tangents;
  mutable std::map<std::string, at::Tensor> _host_states;
  mutable at::Tensor _host_strain;
  mutable at::Tensor _host_stress;
  /// Derivatives that tangent() was asked for: those that the next evaluate() computes.
  mutable std::set<Pair> _asked;
};
}
