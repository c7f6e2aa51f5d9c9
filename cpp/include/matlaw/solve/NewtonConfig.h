// What a user may set of the nonlinear solves.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "matlaw/solve/KrylovConfig.h"

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

/// Settings of the solves of a law. A row converges when |r| < atol or |r| < rtol |r0|. Input files call atol, rtol and
/// miters abs_tol, rel_tol and max_its.
struct NewtonConfig
{
  double atol = 1e-10;
  double rtol = 1e-8;
  std::int64_t miters = 25;
  LineSearch ls_type = LineSearch::NONE;
  /// Most residuals of a line search, the one at its start among them: 1 and 2 allow the full step only. The trial with
  /// the smallest residual is taken when none satisfies the conditions
  std::int64_t ls_max_iters = 10;
  double ls_cutback = 2.0;
  double ls_c = 1e-3;
  /// An increment that does not converge may be cut down to 2^-max_substepping_level of it; 0: never
  std::int64_t max_substepping_level = 0;
  /// |r| < rtol |r0| counts only after a Newton step with |du| < substep_del_tol (|u| + atol): such a row has settled,
  /// and is not just below an initial residual that is huge. Without substepping the square root of it will do where
  /// the residual fell to a hundredth in that step: Newton's method then converges quadratically.
  double substep_del_tol = 1e-6;
  /// Linear systems are solved iteratively, without an assembled Jacobian; else directly
  std::optional<KrylovConfig> krylov = std::nullopt;
  /// Derivatives of the solution by inputs, and by parameters, are solved for iteratively; else directly
  std::optional<KrylovConfig> input_sensitivity = std::nullopt, param_sensitivity = std::nullopt;
};

/// Throws FatalError naming the entry that is out of range.
void check(const NewtonConfig & config);
}
