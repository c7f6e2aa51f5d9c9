// What a Newton solve does to every row besides evaluating and solving, over vectors of rows.
#pragma once

#include <cstdint>

namespace matlaw::solve
{
/// Euclidean norm of each of ld columns of b, (n, ld), summed in double in the order of the components.
template <typename Real>
void norms(const Real * b, std::int64_t n, std::int64_t ld, double * norm);

/// x += b, (n, ld), in columns where `moves` is -1; where it is 0 they stay, whatever b holds.
template <typename Real>
void step_rows(Real * x, const Real * b, const std::int64_t * moves, std::int64_t n, std::int64_t ld);

/// True when all numbers are finite.
template <typename Real>
bool all_finite(const Real * values, std::int64_t count);
}
