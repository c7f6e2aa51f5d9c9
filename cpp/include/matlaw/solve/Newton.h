// The Newton solver: the only one, for compiled and for eager laws.
#pragma once

#include <cstdint>
#include <string>

#include "matlaw/Model.h"
#include "matlaw/solve/NonlinearSystem.h"

namespace matlaw::solve
{
/// How far a row goes along its Newton step du.
enum class LineSearch : std::uint8_t
{
  /// All of it
  NONE,
  /// The first of 1, 1/ls_cutback, 1/ls_cutback^2 ... of it that decreases the residual enough (Armijo):
  /// |r(u + a du)|^2 <= (1 - 2 ls_c a) |r(u)|^2
  BACKTRACKING,
  /// Besides, the slope of |r|^2 / 2 along du must have fallen to 0.9 of what it was (the strong Wolfe conditions);
  /// found by bracketing, with a Jacobian for each trial. Source: J. Nocedal and S. J. Wright, Numerical Optimization,
  /// chapter 3
  STRONG_WOLFE
};

/// "NONE", "BACKTRACKING" or "STRONG_WOLFE". Throws FatalError for any other text.
LineSearch line_search_from_text(const std::string & text);
std::string line_search_text(LineSearch line_search);

/// When a row has converged, and how long it may try. A row converges when |r| < atol or |r| < rtol |r0|.
struct NewtonConfig
{
  double atol = 1e-10;
  double rtol = 1e-8;
  std::int64_t miters = 25;
  LineSearch ls_type = LineSearch::NONE;
  /// Most trials of a line search; the one with the smallest residual is taken when none satisfies the conditions
  std::int64_t ls_max_iters = 10;
  double ls_cutback = 2.0;
  double ls_c = 1e-3;
};

/// Throws FatalError naming the entry that is out of range.
void check(const NewtonConfig & config);

/// What a solve says of one row.
struct RowVerdict
{
  Status status = Status::NOT_CONVERGED;
  std::int32_t iterations = 0;
  double initial_residual = 0.0;
  double final_residual = 0.0;
};

/// Solves r(u) = 0 for every row on its own. `u` (size, ld) holds the initial guess and receives the solution;
/// `verdicts` has one entry per row. A row that has converged is frozen and leaves the working set.
template <typename Real>
void newton(NonlinearSystem<Real> & system, Real * u, std::int64_t ld, std::int64_t rows, const NewtonConfig & config,
            RowVerdict * verdicts);

extern template void newton<double>(NonlinearSystem<double> &, double *, std::int64_t, std::int64_t,
                                    const NewtonConfig &, RowVerdict *);
extern template void newton<float>(NonlinearSystem<float> &, float *, std::int64_t, std::int64_t, const NewtonConfig &,
                                   RowVerdict *);
}
