// Many small dense linear systems at once, one per row of the batch.
#pragma once

#include <cstdint>

namespace matlaw::solve
{
/// Solves A x = b for every row by LU with partial pivoting, each row with pivots of its own.
///
/// `A` is (n, n, ld) and is not changed; `b` is (n, m, ld), m right-hand sides, and receives the solutions. Component c
/// of row i of an array is at `array[c * ld + i]`; ld and `rows` are multiples of native::row_block. `singular[i]`
/// becomes 1 for a row whose matrix has a zero or non-finite pivot (its solution is then meaningless) and 0 otherwise.
/// A row's solution depends on that row alone, to the last bit. Throws nothing but std::bad_alloc.
template <typename Real>
void lu_solve(const Real * A, Real * b, std::int64_t n, std::int64_t m, std::int64_t ld, std::int64_t rows,
              std::uint8_t * singular);

extern template void lu_solve<double>(const double *, double *, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                                      std::uint8_t *);
extern template void lu_solve<float>(const float *, float *, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                                     std::uint8_t *);
}
