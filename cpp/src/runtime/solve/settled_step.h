// When a row has settled.
#pragma once

#include <cmath>

#include "matlaw/solve/NewtonConfig.h"

namespace matlaw::solve
{
/// The residual relative to the first one counts only after a small Newton step; see NewtonConfig::substep_del_tol.
struct SettledStep
{
  /// A step below this, relative to the unknowns, will do
  double strict;
  /// One below this does where the residual fell by `quick` in it: Newton's method then converges quadratically, and
  /// an error of the size of the step is followed by one of about its square
  double loose;

  explicit SettledStep(const NewtonConfig & config)
      : strict(config.substep_del_tol),
        loose(config.max_substepping_level > 0 ? 0.0 : std::sqrt(config.substep_del_tol))
  {
  }
};

inline constexpr double quick = 1e-2;
}
