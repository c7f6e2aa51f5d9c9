#include "aoti/ImplicitStage.h"

#include <algorithm>
#include <limits>

#include "aoti/CompiledSystem.h"
#include "matlaw/logging.h"
#include "matlaw/solve/step_factor.h"
#include "solve/assembled_krylov.h"
#include "solve/direct_solve.h"
#include "support/rows.h"

namespace matlaw::aoti
{
template <typename Real>
void ImplicitStage<Real>::run(ChunkWorkspace<Real> & w, std::int64_t ld, std::int64_t rows, bool with_derivatives) const
{
  Real * arena = w.arena.data();
  for (const auto & slot : zeros)
    std::fill_n(arena + slot.offset * ld, slot.size * ld, Real(0));
  for (const auto & [to, from] : copies)
    std::copy_n(arena + from.offset * ld, from.size * ld, arena + to.offset * ld);
  if (predictor)
    predictor->run(w, ld);

  CompiledSystem<Real> system(*this, w, ld);
  w.segment_verdicts.assign(rows, {});
  Real * values = arena + u.offset * ld;
  const auto segment = w.solves++;
  const auto & solver = (*w.solvers)[segment];
  solve::Recorder<Real> recorder;
  if (w.record)
    recorder = w.record->template recorder<Real>(segment, w.record_rows);
  if (w.record)
    solve::newton<Real>(system, values, ld, rows, solver, w.segment_verdicts.data(), &recorder);
  else
    solve(system, values, solver, w, ld, rows);
  for (std::int64_t i = 0; i < rows; i++)
  {
    const auto & verdict = w.segment_verdicts[i];
    w.iterations[i] = std::max(w.iterations[i], verdict.iterations);
    w.dt_factor[i] = std::min(w.dt_factor[i], solve::step_factor(verdict, solver.miters));
    // NaN counts as the largest: it says most about why a row failed.
    if (!(verdict.final_residual <= w.residual[i]))
      w.residual[i] = verdict.final_residual;
    if (verdict.status == Status::CONVERGED)
      continue;
    w.status[i] = Status::NOT_CONVERGED;
    if (w.record)
      w.record->fail(w.record_rows[i], verdict.reason, std::int64_t(segment));
    // Segments that follow give this row up at once.
    for (std::int64_t c = 0; c < n; c++)
      values[c * ld + i] = std::numeric_limits<Real>::quiet_NaN();
  }
  support::pad_rows(values, n, ld, rows);

  if (!with_derivatives || columns == 0)
    return;
  if (sparse)
    solve_sparse(w, ld);
  else
    solve_with_matrix(solver, w, ld);
  for (std::int64_t i = 0; i < rows; i++)
    if (w.singular[i] && w.status[i] == Status::CONVERGED)
    {
      // Solved, but without a tangent: of no use to a host that asked for one.
      w.status[i] = Status::NOT_CONVERGED;
      if (w.record)
        w.record->fail(w.record_rows[i], Reason::SINGULAR_TANGENT, std::int64_t(segment));
      w.dt_factor[i] = std::min(w.dt_factor[i], 0.25);
    }
}

/// Whether these settings are those of a solver in a kernel: full steps, one tolerance from beginning to end, and
/// nobody who listens.
static bool is_plain(const solve::NewtonConfig & config)
{
  return config.ls_type == solve::LineSearch::NONE && !config.krylov && config.max_substepping_level == 0 &&
         !logging::enabled(logging::Channel::newton, logging::Level::debug);
}

template <typename Real>
void ImplicitStage<Real>::solve(CompiledSystem<Real> & system, Real * u, const solve::NewtonConfig & config,
                                ChunkWorkspace<Real> & w, std::int64_t ld, std::int64_t rows) const
{
  auto * verdicts = w.segment_verdicts.data();
  Real * report = w.report.reserve(4 * ld);
  if (!is_plain(config) || !system.solve(u, report, config, ld, rows))
    return solve::newton<Real>(system, u, ld, rows, config, verdicts, nullptr);
  w.left.clear();
  for (std::int64_t i = 0; i < rows; i++)
    if (report[3 * ld + i] == Real(1))
      verdicts[i] = {.status = Status::CONVERGED,
                     .iterations = std::int32_t(report[2 * ld + i]),
                     .initial_residual = double(report[i]),
                     .final_residual = double(report[ld + i])};
    else
      w.left.push_back(std::int32_t(i));
  const auto left = std::int64_t(w.left.size());
  if (left == 0)
    return;
  if (left == rows)
    return solve::newton<Real>(system, u, ld, rows, config, verdicts, nullptr);
  // The others once more from their guess, as any system is solved.
  system.keep(w.left);
  const auto width = support::whole_blocks(left);
  Real * part = w.left_unknowns.reserve(n * width);
  support::gather_rows(u, ld, w.left, part, width, n);
  w.left_verdicts.assign(left, {});
  solve::newton<Real>(system, part, width, left, config, w.left_verdicts.data(), nullptr);
  for (std::int64_t i = 0; i < left; i++)
    verdicts[w.left[i]] = w.left_verdicts[i];
  support::scatter_rows(part, width, w.left, u, ld, n);
}

template <typename Real>
std::int64_t ImplicitStage<Real>::rare_components(bool with_derivatives) const
{
  // Of Newton's method: givens of the rows that are left, these rows twice, their line search, what a kernel reports.
  auto components = 6 * n + 4;
  for (std::size_t k = unknowns.size(); k < residual.inputs.size(); k++)
    components += 2 * residual.inputs[k].size;
  const auto of_step = solve::direct_solve_scratch(structure.elimination, n, 1);
  if (!with_derivatives || columns == 0)
    return components + of_step;
  // For rows that the kernel cannot solve for: inputs, matrix, a residual that nobody needs, and right-hand sides.
  if (sparse)
  {
    components += n * (n + 1 + columns);
    for (const auto & slot : sparse->kernel.inputs)
      components += slot.size;
  }
  return components + std::max(of_step, solve::direct_solve_scratch(sensitivity.elimination, n, columns));
}

template <typename Real>
void ImplicitStage<Real>::solve_with_matrix(const solve::NewtonConfig & solver, ChunkWorkspace<Real> & w,
                                            std::int64_t ld) const
{
  Real * arena = w.arena.data();
  (dr_dparam ? *dr_dparam : jacobian).run(w, ld);
  if (jacobian_given)
    jacobian_given->run(w, ld);
  std::fill_n(arena + X.offset * ld, X.size * ld, Real(0));
  for (const auto & product : products)
    product.run(arena, ld, Real(-1));
  w.singular.resize(ld);
  if (const auto & krylov = solver.*iterative_sensitivity)
    solve::assembled_krylov<Real>(sensitivity.preconditioner, *krylov, arena + A.offset * ld, arena + X.offset * ld, n,
                                  columns, ld, ld, w.singular.data());
  else
    solve::direct_solve<Real>(sensitivity.elimination, arena + A.offset * ld, arena + X.offset * ld, n, columns, ld, ld,
                              w.singular.data());
}

template <typename Real>
void ImplicitStage<Real>::solve_sparse(ChunkWorkspace<Real> & w, std::int64_t ld) const
{
  Real * arena = w.arena.data();
  sparse->kernel.run(w, ld);
  w.singular.assign(ld, 0);
  const Real * sound = arena + sparse->sound.offset * ld;
  w.left.clear();
  for (std::int64_t i = 0; i < ld; i++)
    if (sound[i] != Real(1))
      w.left.push_back(std::int32_t(i));
  if (!w.left.empty())
    solve_unsound(w, ld);
  for (const auto & slot : sparse->sums)
    std::fill_n(arena + slot.offset * ld, slot.size * ld, Real(0));
  for (const auto & product : sparse->products)
    product.run(arena, ld, Real(1));
}

/// Sensitivities of the rows in `w.left`, which the kernel could not solve for, with pivoting.
template <typename Real>
void ImplicitStage<Real>::solve_unsound(ChunkWorkspace<Real> & w, std::int64_t ld) const
{
  const auto m = sparse->columns;
  const auto width = support::whole_blocks(std::int64_t(w.left.size()));
  std::int64_t components = n * (n + 1 + m);
  for (const auto & slot : sparse->kernel.inputs)
    components += slot.size;
  Real * matrix = w.dense.reserve(components * width);
  Real * unused = matrix + n * n * width;
  Real * right = unused + n * width;
  Real * input = right + n * m * width;
  Real * arena = w.arena.data();
  // The kernel's inputs, of these rows; the graphs of the matrix take the same.
  for (std::size_t k = 0; k < sparse->kernel.inputs.size(); k++)
  {
    const auto & slot = sparse->kernel.inputs[k];
    support::gather_rows(arena + slot.offset * ld, ld, w.left, input, width, slot.size);
    w.graph_inputs[k] = input;
    input += slot.size * width;
  }
  w.graph_outputs.assign({matrix, unused});
  jacobian.graph->run(w.graph_inputs.data(), w.graph_outputs.data(), width, width);
  w.graph_outputs.assign({right});
  sparse->jacobian_given->run(w.graph_inputs.data(), w.graph_outputs.data(), width, width);
  w.left_singular.resize(width);
  solve::direct_solve<Real>({}, matrix, right, n, m, width, width, w.left_singular.data());
  for (std::size_t p = 0; p < w.left.size(); p++)
    w.singular[w.left[p]] = w.left_singular[p];
  std::transform(right, right + n * m * width, right, [](Real x) { return -x; });
  support::scatter_rows(right, width, w.left, arena + sparse->S.offset * ld, ld, n * m);
}

template struct ImplicitStage<double>;
template struct ImplicitStage<float>;
}
