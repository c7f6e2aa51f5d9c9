#include "StressFree.h"

#include <algorithm>
#include <limits>
#include <optional>

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/logical_and.h>
#include <ATen/ops/logical_not.h>
#include <ATen/ops/logical_or.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/nonzero.h>
#include <ATen/ops/tensor.h>

#include "Rows.h"
#include "merge_evaluations.h"
#include "solve_rows.h"

namespace matlaw::host
{
namespace
{
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TensorMap take(const Rows & rows, const TensorMap & tensors)
{
  TensorMap taken;
  for (const auto & [name, tensor] : tensors)
    taken.emplace(name, rows.take(tensor));
  return taken;
}

Evaluation take(const Rows & rows, const Evaluation & evaluation)
{
  Evaluation taken;
  taken.outputs = take(rows, evaluation.outputs);
  for (const auto & [output, row] : evaluation.jacobian)
    taken.jacobian[output] = take(rows, row);
  taken.status = rows.take(evaluation.status);
  taken.iterations = rows.take(evaluation.iterations);
  if (evaluation.substeps.defined())
    taken.substeps = rows.take(evaluation.substeps);
  taken.dt_factor = rows.take(evaluation.dt_factor);
  return taken;
}

/// What evaluate() reports for a row without a solution.
void give_up(Evaluation & evaluation, const at::Tensor & rows)
{
  if (rows.numel() == 0)
    return;
  for (auto & [name, values] : evaluation.outputs)
    values = values.index_fill(0, rows, nan);
  for (auto & [output, row] : evaluation.jacobian)
    for (auto & [input, block] : row)
      block = block.index_fill(0, rows, nan);
  evaluation.status = evaluation.status.index_fill(0, rows, static_cast<std::int8_t>(Status::NOT_CONVERGED));
  evaluation.dt_factor = evaluation.dt_factor.index_fill(0, rows, 0.5);
}

at::Tensor largest(const at::Tensor & rows)
{
  return rows.abs().amax(1);
}

at::Tensor chosen(const at::Tensor & which)
{
  return at::nonzero(which).squeeze(1);
}

double epsilon(const at::Tensor & tensor)
{
  return tensor.scalar_type() == at::kFloat ? std::numeric_limits<float>::epsilon()
                                            : std::numeric_limits<double>::epsilon();
}
}

StressFree::StressFree(const Kinematics & kinematics) : _kinematics(kinematics)
{
  const auto free = stress_free_components(kinematics.hypothesis);
  _free = at::tensor(std::vector<std::int64_t>(free.begin(), free.end()), at::kLong);
}

StressFree::Solution StressFree::solve(const Law & law, const TensorMap & inputs, const TensorMap & parameters) const
{
  at::Tensor strain = inputs.at(_kinematics.strain).clone();
  const at::Tensor free = _free.to(strain.device());
  const auto components = stress_free_components(_kinematics.hypothesis);
  const std::int64_t n = strain.size(0);
  const double tolerance = std::max(_kinematics.tolerance, 64 * epsilon(strain));
  std::optional<Evaluation> found;
  at::Tensor active = at::arange(n, at::kLong);
  at::Tensor iterations;
  for (int k = 1; !found || active.numel() > 0; ++k)
  {
    const Rows rows = Rows::of(active);
    TensorMap now = take(rows, inputs);
    now[_kinematics.strain] = rows.take(strain);
    Evaluation evaluation = law(now, take(rows, parameters));
    if (iterations.defined())
      evaluation.iterations = at::maximum(evaluation.iterations, iterations);

    const at::Tensor & stress = evaluation.outputs.at(_kinematics.stress);
    const at::Tensor stress_free = stress.index_select(1, free);
    const at::Tensor & stiffness = evaluation.jacobian.at(_kinematics.stress).at(_kinematics.strain);
    const at::Tensor step = solve_rows(stiffness, components, stress_free.neg().unsqueeze(-1)).squeeze(-1);
    // The second test: no better strain is in reach, as where all of the stress is rounding.
    const at::Tensor converged =
        at::logical_or(largest(stress_free) <= tolerance * largest(stress),
                       largest(step) <= 8 * epsilon(strain) * largest(now.at(_kinematics.strain)));
    const at::Tensor failed = evaluation.status.ne(static_cast<std::int8_t>(Status::CONVERGED)).to(strain.device());
    at::Tensor lost = at::logical_and(at::logical_not(converged), at::logical_not(failed));
    if (k < _kinematics.max_iterations)
      lost = at::logical_and(lost, at::logical_not(at::isfinite(step).all(1)));
    give_up(evaluation, chosen(lost));

    const at::Tensor done = at::logical_or(at::logical_or(converged, failed), lost).cpu();
    const Rows done_rows = Rows::of(chosen(done));
    merge_evaluations(found, Rows::of(done_rows.take(active)), take(done_rows, evaluation), n);
    const Rows rest = Rows::of(chosen(at::logical_not(done)));
    active = rest.take(active);
    iterations = rest.take(evaluation.iterations);
    const at::Tensor index = active.to(strain.device());
    const at::Tensor improved = rest.take(now.at(_kinematics.strain)).index_add(1, free, rest.take(step));
    strain.index_copy_(0, index, improved);
  }
  return {std::move(*found), strain};
}

at::Tensor StressFree::condense(const at::Tensor & block, const at::Tensor & by_strain,
                                const at::Tensor & stress_by_input, const at::Tensor & stiffness) const
{
  const std::int64_t n = stiffness.size(0);
  if (n == 0)
    return block;
  const at::Tensor free = _free.to(stiffness.device());
  const at::Tensor change = solve_rows(stiffness, stress_free_components(_kinematics.hypothesis),
                                       stress_by_input.reshape({n, 6, -1}).index_select(1, free));
  const at::Tensor moved = by_strain.reshape({n, -1, 6}).index_select(2, free).matmul(change);
  return block - moved.reshape(block.sizes());
}
}
