#include "matlaw/solve/Newton.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <sstream>
#include <vector>

#include "matlaw/logging.h"
#include "matlaw/native/abi.h"
#include "solve/KrylovStep.h"
#include "solve/direct_solve.h"
#include "solve/easy_steps.h"
#include "solve/row_kernels.h"
#include "solve/settled_step.h"
#include "support/AlignedBuffer.h"
#include "support/FloatingPointDefaults.h"
#include "support/rows.h"

namespace matlaw::solve
{
namespace
{
using support::pad_rows;
using support::whole_blocks;

/// Where the line search of one row stands.
struct Search
{
  /// Tried now; accepted once `done`
  double step = 1.0;
  /// The best trial so far
  double best = 1.0, best_norm = std::numeric_limits<double>::infinity();
  /// Between these there is a step that satisfies the strong Wolfe conditions; `upper` may be infinite
  double lower = 0.0, upper = std::numeric_limits<double>::infinity();
  bool done = false;

  double taken() const { return done ? step : best; }
};

/// Fraction of the initial slope that the strong Wolfe conditions allow at the accepted step.
constexpr double slope_left = 0.9;

/// Judges the trial of a row, of which |r| is `norm` and the slope of |r|^2 / 2 along the step is `slope` (looked at
/// for STRONG_WOLFE only), and chooses the next.
void judge(Search & search, const NewtonConfig & config, double initial_norm, double norm, double slope)
{
  if (norm < search.best_norm)
  {
    search.best_norm = norm;
    search.best = search.step;
  }
  const double phi = norm * norm, phi_0 = initial_norm * initial_norm;
  const bool decreased = phi <= (1.0 - 2.0 * config.ls_c * search.step) * phi_0; // false for NaN
  if (config.ls_type == LineSearch::BACKTRACKING)
  {
    search.done = decreased;
    search.step = decreased ? search.step : search.step / config.ls_cutback;
    return;
  }
  // The slope at no step at all is -|r|^2, exactly or as nearly as an iterative solver found the Newton step.
  if (decreased && std::abs(slope) <= slope_left * phi_0)
  {
    search.done = true;
    return;
  }
  if (decreased && slope < 0)
    search.lower = search.step;
  else
    search.upper = search.step;
  search.step = std::isinf(search.upper) ? search.step * config.ls_cutback
                                         : search.lower + (search.upper - search.lower) / config.ls_cutback;
}

/// Arrays of one solve. One per thread, so that a solve allocates nothing once its sizes have been seen.
template <typename Real>
struct Workspace
{
  support::AlignedBuffer<Real> u, u_next, b, A, step, trial, change, sound;
  KrylovStep<Real> krylov;
  std::vector<double> norm;
  std::vector<std::uint8_t> singular, active;
  /// Whether the last step of a row was small; looked at where substepping is allowed
  /// Size of the last step against the unknowns, and the norm before it
  std::vector<double> steps, before;
  /// Of a system with steps of its own: |r| before the last step, and whether such steps get a row nowhere
  std::vector<double> previous;
  /// |r| below which a row is done
  std::vector<std::int64_t> moves;
  std::vector<std::uint8_t> stalled;
  std::vector<Search> searches;
  std::vector<std::int32_t> rows, kept;
  bool in_use = false;
};

/// How small |du| is against |u| + atol for each row, where b holds du and x what u is after it.
template <typename Real>
void measure_steps(const Real * x, const Real * b, std::int64_t n, std::int64_t ld, std::int64_t rows, double atol,
                   std::vector<double> & steps)
{
  for (std::int64_t p = 0; p < rows; p++)
  {
    double step = 0.0, size = 0.0;
    for (std::int64_t c = 0; c < n; c++)
    {
      step += double(b[c * ld + p]) * double(b[c * ld + p]);
      size += double(x[c * ld + p]) * double(x[c * ld + p]);
    }
    steps[p] = std::sqrt(step) / (std::sqrt(size) + atol);
  }
}

/// How far a solve is, where somebody listens.
template <typename Real>
void say_progress(std::int64_t iteration, std::int64_t left, const Workspace<Real> & w)
{
  std::ostringstream text;
  text << "iteration " << iteration << ": " << left << " rows left";
  double largest = 0.0;
  for (std::size_t p = 0; p < w.rows.size(); p++)
    if (w.active[p])
      largest = std::max(largest, w.norm[p]);
  if (left > 0)
    text << ", largest |r| = " << largest;
  logging::write(logging::Channel::newton, logging::Level::debug, text.str());
}

/// Puts the steps of all rows into w.b, by the system's own kernel; rows that it cannot solve for are solved with
/// pivoting.
template <typename Real>
void sparse_step(NonlinearSystem<Real> & system, Workspace<Real> & w, std::int64_t n, std::int64_t ld,
                 std::int64_t rows)
{
  const Real * x = w.u.data();
  Real * b = w.b.data();
  Real * du = w.step.reserve(n * ld);
  Real * sound = w.sound.reserve(ld);
  system.step(x, du, b, sound, ld, rows);
  std::fill(w.singular.begin(), w.singular.end(), 0);
  bool any_dense = false;
  for (std::int64_t p = 0; p < rows; p++)
  {
    w.stalled[p] |= sound[p] != Real(1);
    any_dense |= w.active[p] && w.stalled[p];
  }
  if (any_dense)
  {
    Real * A = w.A.reserve(n * n * ld);
    system.jacobian(x, A, b, ld, rows);
    pad_rows(A, n * n, ld, rows);
    pad_rows(b, n, ld, rows);
    direct_solve(system.structure().elimination, A, b, n, 1, ld, ld, w.singular.data());
    for (std::int64_t p = 0; p < rows; p++)
      if (!w.stalled[p])
        w.singular[p] = 0;
      else
        for (std::int64_t c = 0; c < n; c++)
          du[c * ld + p] = b[c * ld + p];
  }
  std::swap(w.b, w.step);
}

/// Entry i of A du in row p of the batch.
template <typename Real>
double product(const Real * A, const Real * du, std::int64_t n, std::int64_t ld, std::int64_t i, std::int64_t p)
{
  double sum = 0.0;
  for (std::int64_t j = 0; j < n; j++)
    sum += double(A[(i * n + j) * ld + p]) * double(du[j * ld + p]);
  return sum;
}

/// Scales the step of every active row, in w.b, as the line search says. w.norm holds |r| where the steps start.
template <typename Real>
void scale_steps(NonlinearSystem<Real> & system, const NewtonConfig & config, Workspace<Real> & w, std::int64_t n,
                 std::int64_t ld, std::int64_t rows, const RowVerdict * verdicts)
{
  const bool wolfe = config.ls_type == LineSearch::STRONG_WOLFE;
  const Real * x = w.u.data();
  Real * b = w.b.data();
  Real * A = w.A.data();
  Real * change = w.change.reserve(n * ld); // A du at a trial
  Real * du = w.step.reserve(n * ld);
  Real * trial = w.trial.reserve(n * ld);
  std::copy_n(b, n * ld, du);
  w.searches.assign(rows, {});
  std::int64_t left = 0;
  for (std::int64_t p = 0; p < rows; p++)
  {
    w.searches[p].done = !w.active[p] || w.singular[p];
    left += !w.searches[p].done;
  }
  const auto trials =
      std::max<std::int64_t>(1, config.ls_max_iters - 1); // ls_max_iters counts the residual at the start
  for (std::int64_t count = 0; left > 0 && count < trials; count++)
  {
    for (std::int64_t c = 0; c < n; c++)
      for (std::int64_t p = 0; p < rows; p++)
        trial[c * ld + p] =
            w.active[p] && !w.singular[p] ? x[c * ld + p] + Real(w.searches[p].step) * du[c * ld + p] : x[c * ld + p];
    pad_rows(trial, n, ld, rows);
    if (wolfe && !config.krylov)
      system.jacobian(trial, A, b, ld, rows);
    else
      system.residual(trial, b, ld, rows);
    if (wolfe && config.krylov)
      system.multiply(trial, du, change, ld, rows);
    for (std::int64_t p = 0; p < rows; p++)
    {
      auto & search = w.searches[p];
      if (search.done)
        continue;
      double square = 0.0, slope = 0.0;
      for (std::int64_t i = 0; i < n; i++)
      {
        const double r = -double(b[i * ld + p]);
        square += r * r;
        if (wolfe)
          slope += r * (config.krylov ? double(change[i * ld + p]) : product(A, du, n, ld, i, p));
      }
      const double norm = std::sqrt(square);
      const auto & verdict = verdicts[w.rows[p]];
      if (norm < config.atol || norm < config.rtol * verdict.initial_residual)
        search.done = true; // nothing left to search for
      else
        judge(search, config, w.norm[p], norm, slope);
      left -= search.done;
    }
  }
  for (std::int64_t p = 0; p < rows; p++)
  {
    const auto & search = w.searches[p];
    const auto step = Real(search.taken());
    for (std::int64_t c = 0; c < n; c++)
      b[c * ld + p] = step * du[c * ld + p];
  }
}

/// newton() with linear systems solved as the settings say.
template <typename Real>
void solve_once(NonlinearSystem<Real> & system, Real * u, std::int64_t ld, std::int64_t rows,
                const NewtonConfig & config, RowVerdict * verdicts, Recorder<Real> * recorder)
{
  if (rows == 0)
    return;
  const support::FloatingPointDefaults defaults;
  const auto n = system.size();
  thread_local Workspace<Real> shared;
  // A system may itself call a solve (an eager law inside a law): that one gets arrays of its own.
  Workspace<Real> own;
  Workspace<Real> & w = shared.in_use ? own : shared;
  struct Use
  {
    bool & flag;
    explicit Use(bool & in_use) : flag(in_use) { flag = true; }
    ~Use() { flag = false; }
  } const use(w.in_use);

  // Working set: position p of it is row w.rows[p] of the caller.
  auto size = rows;
  auto width = whole_blocks(size);
  Real * x = w.u.reserve(n * width);
  for (std::int64_t c = 0; c < n; c++)
    std::copy_n(u + c * ld, rows, x + c * width);
  pad_rows(x, n, width, size);
  Real * b = w.b.reserve(n * width);
  const bool sparse = system.has_step() && !config.krylov && config.ls_type != LineSearch::STRONG_WOLFE;
  Real * A = config.krylov || sparse ? nullptr : w.A.reserve(n * n * width);
  if (config.krylov)
    w.krylov.reset(system, *config.krylov, size);
  w.norm.resize(width);
  w.singular.resize(width);
  w.active.assign(size, 1);
  const SettledStep settled(config);
  w.steps.assign(size, std::numeric_limits<double>::infinity());
  w.before.assign(size, 0.0);
  w.previous.resize(size);
  w.stalled.assign(size, 0);
  w.rows.resize(size);
  std::iota(w.rows.begin(), w.rows.end(), 0);
  auto left = size;

  const bool say = logging::enabled(logging::Channel::newton, logging::Level::debug);

  const auto finish = [&](std::int64_t position, std::int64_t iteration, Reason reason)
  {
    const auto row = w.rows[position];
    verdicts[row].status = reason == Reason::NONE ? Status::CONVERGED : Status::NOT_CONVERGED;
    verdicts[row].reason = reason;
    verdicts[row].iterations = std::int32_t(iteration);
    verdicts[row].final_residual = w.norm[position];
    for (std::int64_t c = 0; c < n; c++)
      u[c * ld + row] = x[c * width + position];
    w.active[position] = 0;
    left--;
  };

  for (std::int64_t iteration = 0;; iteration++)
  {
    system.residual(x, b, width, size);
    norms(b, n, width, w.norm.data());
    for (std::int64_t p = 0; p < size; p++)
    {
      if (!w.active[p])
        continue;
      const auto norm = w.norm[p];
      if (recorder)
        recorder->iterate(w.rows[p], iteration, norm, x + p, width);
      if (iteration == 0)
        verdicts[w.rows[p]].initial_residual = norm;
      if (!std::isfinite(norm))
        finish(p, iteration, Reason::RESIDUAL_NOT_FINITE);
      else if (norm < config.atol ||
               (norm < config.rtol * verdicts[w.rows[p]].initial_residual &&
                (w.steps[p] < settled.strict || (w.steps[p] < settled.loose && norm < quick * w.before[p]))))
        finish(p, iteration, Reason::NONE);
      else if (iteration >= config.miters)
        finish(p, iteration, Reason::ITERATION_LIMIT);
    }
    if (sparse && iteration >= easy_steps)
      for (std::int64_t p = 0; p < size; p++)
        w.stalled[p] |= !(w.norm[p] < 0.5 * w.previous[p]);
    if (sparse && iteration + 1 >= easy_steps)
      std::copy_n(w.norm.begin(), size, w.previous.begin());
    if (say)
      say_progress(iteration, left, w);
    if (left == 0)
      return;

    // Rows that are done stay in the working set, ignored, until a good part of it can be dropped: to move the others
    // costs about as much as to evaluate a cheap law.
    if (const auto smaller = whole_blocks(left);
        smaller <= width - std::max<std::int64_t>(width / 8, native::row_block))
    {
      w.kept.clear();
      for (std::int64_t p = 0; p < size; p++)
        if (w.active[p])
          w.kept.push_back(std::int32_t(p));
      Real * next = w.u_next.reserve(n * smaller);
      support::gather_rows(x, width, w.kept, next, smaller, n);
      std::swap(w.u, w.u_next);
      x = w.u.data();
      for (std::int64_t q = 0; q < left; q++)
      {
        w.rows[q] = w.rows[w.kept[q]];
        w.norm[q] = w.norm[w.kept[q]];
        w.steps[q] = w.steps[w.kept[q]];
        w.previous[q] = w.previous[w.kept[q]];
        w.stalled[q] = w.stalled[w.kept[q]];
      }
      w.rows.resize(left);
      w.active.assign(left, 1);
      size = left;
      width = smaller;
      system.keep(w.kept);
      if (config.krylov)
      {
        w.krylov.keep(w.kept);
        system.residual(x, b, width, size);
      }
    }

    // The padding of what a system wrote is not defined: give the solvers numbers there.
    if (config.krylov)
    {
      pad_rows(b, n, width, size);
      w.krylov.solve(x, b, width, size, w.active.data(), w.singular.data());
    }
    else if (sparse)
    {
      sparse_step(system, w, n, width, size);
      b = w.b.data();
    }
    else
    {
      system.jacobian(x, A, b, width, size);
      pad_rows(A, n * n, width, size);
      pad_rows(b, n, width, size);
      direct_solve(system.structure().elimination, A, b, n, 1, width, width, w.singular.data());
    }
    if (config.ls_type != LineSearch::NONE)
      scale_steps(system, config, w, n, width, size, verdicts);
    // A frozen row keeps its value; what happens to it here would be ignored anyway, but must not overflow.
    w.moves.assign(width, 0);
    for (std::int64_t p = 0; p < size; p++)
      w.moves[p] = -std::int64_t(w.active[p] && !w.singular[p]);
    step_rows(x, b, w.moves.data(), n, width);
    pad_rows(x, n, width, size);
    for (std::int64_t p = 0; recorder && p < size; p++)
      if (w.active[p] && !w.singular[p])
        recorder->stepped(w.rows[p], iteration, config.ls_type == LineSearch::NONE ? 1.0 : w.searches[p].taken());
    measure_steps(x, b, n, width, size, config.atol, w.steps);
    std::copy_n(w.norm.begin(), size, w.before.begin());
    for (std::int64_t p = 0; p < size; p++)
      if (w.active[p] && w.singular[p])
        finish(p, iteration, config.krylov ? Reason::LINEAR_SOLVER : Reason::SINGULAR_JACOBIAN);
    if (left == 0)
      return;
  }
}

/// Newton steps that are this exact are as good as those of a direct solver.
template <typename Real>
constexpr double tight = sizeof(Real) == 8 ? 1e-10 : 1e-5;

/// Lets rows that did not converge with loose linear solves try again with tight ones, from where they started: a
/// tolerance must not decide whether a row has a solution.
template <typename Real>
void solve_tightly(NonlinearSystem<Real> & system, Real * u, const std::vector<Real> & start, std::int64_t ld,
                   std::int64_t rows, NewtonConfig config, RowVerdict * verdicts, Recorder<Real> * recorder)
{
  std::vector<std::int32_t> failed;
  for (std::int64_t i = 0; i < rows; i++)
    if (verdicts[i].reason == Reason::ITERATION_LIMIT ||
        (verdicts[i].reason == Reason::RESIDUAL_NOT_FINITE && verdicts[i].iterations > 0))
      failed.push_back(std::int32_t(i));
  if (failed.empty() || !system.restart())
    return;
  if (logging::enabled(logging::Channel::newton, logging::Level::debug))
    logging::write(logging::Channel::newton, logging::Level::debug,
                   std::to_string(failed.size()) + " rows try again with tight linear solves");
  const auto n = system.size();
  const auto count = std::int64_t(failed.size());
  const auto width = whole_blocks(count);
  std::vector<Real> again(n * width);
  support::gather_rows(start.data(), ld, failed, again.data(), width, n);
  std::vector<RowVerdict> said(count);
  std::vector<std::int64_t> places;
  Recorder<Real> record;
  if (recorder)
  {
    for (const auto row : failed)
      places.push_back(recorder->rows ? recorder->rows[row] : row);
    record = *recorder;
    record.rows = places.data();
  }
  system.keep(failed);
  config.krylov->rel_tol = tight<Real>;
  config.krylov->abs_tol = 0.0;
  solve_once(system, again.data(), width, count, config, said.data(), recorder ? &record : nullptr);
  for (std::int64_t p = 0; p < count; p++)
    verdicts[failed[p]] = said[p];
  support::scatter_rows(again.data(), width, failed, u, ld, n);
}
}

template <typename Real>
void newton(NonlinearSystem<Real> & system, Real * u, std::int64_t ld, std::int64_t rows, const NewtonConfig & config,
            RowVerdict * verdicts, Recorder<Real> * recorder)
{
  if (!config.krylov || config.krylov->rel_tol <= tight<Real>)
    return solve_once(system, u, ld, rows, config, verdicts, recorder);
  const std::vector<Real> start(u, u + system.size() * ld);
  solve_once(system, u, ld, rows, config, verdicts, recorder);
  solve_tightly(system, u, start, ld, rows, config, verdicts, recorder);
}

template void newton<double>(NonlinearSystem<double> &, double *, std::int64_t, std::int64_t, const NewtonConfig &,
                             RowVerdict *, Recorder<double> *);
template void newton<float>(NonlinearSystem<float> &, float *, std::int64_t, std::int64_t, const NewtonConfig &,
                            RowVerdict *, Recorder<float> *);
}
