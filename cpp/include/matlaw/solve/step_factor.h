// How much harder or easier the host may step, judged by one row's Newton solve.
#pragma once

#include <cstdint>

#include "matlaw/solve/Newton.h"

namespace matlaw::solve
{
/// Suggested factor for the next time step:
///
///     1                                      converged within t = max(4, 3/4 miters) iterations: an iteration of the
///                                            law costs little beside a time step
///     1 - (k - t) / (2 (miters - t))         converged in k > t iterations: falls linearly to 1/2
///     1/2                                    out of iterations, but its residual was halved by each on average; or bad
///                                            input
///     1/4                                    out of iterations and not getting nearer, the residual is not finite, or
///     the
///                                            Jacobian is singular
double step_factor(const RowVerdict & verdict, std::int64_t miters);

/// Iterations of a substep up to which the next may be larger.
std::int64_t easy_iterations(std::int64_t miters);

/// The same for a row that took substeps: the smallest one as a fraction of the step, but not below 1/4; 1/4 when it
/// failed even so.
double substep_factor(Status status, double smallest);
}
