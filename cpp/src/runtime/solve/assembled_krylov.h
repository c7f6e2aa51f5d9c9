// Iterative solves with assembled matrices and several right-hand sides: sensitivities.
#pragma once

#include <cstdint>
#include <vector>

#include "matlaw/solve/KrylovConfig.h"
#include "matlaw/solve/LinearStructure.h"

namespace matlaw::solve
{
/// Solves A x = b for every row and column of b; `A` (n, n, ld), `b` (n, m, ld) as in lu_solve. A row fails when one of
/// its columns does. M is taken from A once.
template <typename Real>
void assembled_krylov(const std::vector<DiagonalBlock> & preconditioner, const KrylovConfig & config, const Real * A,
                      Real * b, std::int64_t n, std::int64_t m, std::int64_t ld, std::int64_t rows,
                      std::uint8_t * failed);
}
