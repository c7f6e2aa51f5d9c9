// The Newton solver: the only one, for compiled and for eager laws.
#pragma once

#include <cstdint>

#include "matlaw/Model.h"
#include "matlaw/solve/NewtonConfig.h"
#include "matlaw/solve/NonlinearSystem.h"
#include "matlaw/solve/Recorder.h"

namespace matlaw::solve
{
/// What a solve says of one row.
struct RowVerdict
{
  Status status = Status::NOT_CONVERGED;
  std::int32_t iterations = 0;
  double initial_residual = 0.0;
  double final_residual = 0.0;
  /// Why the row is not CONVERGED
  Reason reason = Reason::NONE;
};

/// Solves r(u) = 0 for every row on its own. `u` (size, ld) holds the initial guess and receives the solution;
/// `verdicts` has one entry per row. A row that has converged is frozen and leaves the working set. What rows do is
/// written to `recorder` when there is one.
template <typename Real>
void newton(NonlinearSystem<Real> & system, Real * u, std::int64_t ld, std::int64_t rows, const NewtonConfig & config,
            RowVerdict * verdicts, Recorder<Real> * recorder = nullptr);

extern template void newton<double>(NonlinearSystem<double> &, double *, std::int64_t, std::int64_t,
                                    const NewtonConfig &, RowVerdict *, Recorder<double> *);
extern template void newton<float>(NonlinearSystem<float> &, float *, std::int64_t, std::int64_t, const NewtonConfig &,
                                   RowVerdict *, Recorder<float> *);
}
