// What convergence meant in a failing call.
#pragma once

#include <cstdint>
#include <vector>

#include "matlaw/Failure.h"
#include "matlaw/solve/NewtonConfig.h"

namespace matlaw::diagnosis
{
/// Whether a row failed in a solve: its `place` is an implicit segment then.
bool failed_in_solve(const FailedRow & row);

/// Iteration limit of the solve that a row failed in, 0 for one that failed elsewhere; `solvers` has the settings of
/// the implicit segments, in order.
std::int64_t iteration_limit(const FailedRow & row, const std::vector<solve::NewtonConfig> & solvers);

/// Fills in the tolerances of the solve that the worst row failed in, else of the first.
void set_tolerances(Failure & failure, const std::vector<solve::NewtonConfig> & solvers);
}
