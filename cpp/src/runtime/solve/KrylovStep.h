// Newton steps without an assembled Jacobian.
#pragma once

#include <cstdint>
#include <vector>

#include "matlaw/solve/KrylovConfig.h"
#include "matlaw/solve/NonlinearSystem.h"
#include "solve/BlockPreconditioner.h"
#include "solve/Krylov.h"

namespace matlaw::solve
{
/// Solves A du = b iteratively for the working set of a Newton solve, and keeps each row's preconditioner as the cache
/// strategy says. One per thread; reset() begins a Newton solve.
template <typename Real>
class KrylovStep
{
public:
  /// `system` and `config` must stay until the Newton solve ends.
  void reset(NonlinearSystem<Real> & system, const KrylovConfig & config, std::int64_t rows);

  /// Shrinks to these positions of the current working set.
  void keep(const std::vector<std::int32_t> & positions);

  /// `b` = -r(u), (n, ld), becomes du in the active rows. `failed[i]` as krylov_solve says.
  void solve(const Real * u, Real * b, std::int64_t ld, std::int64_t rows, const std::uint8_t * active,
             std::uint8_t * failed);

private:
  NonlinearSystem<Real> * _system = nullptr;
  const KrylovConfig * _config = nullptr;
  BlockPreconditioner<Real> _preconditioner;
  KrylovWorkspace<Real> _workspace;
  support::AlignedBuffer<Real> _x;
  std::vector<std::int32_t> _iterations;
};
}
