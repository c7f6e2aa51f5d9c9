// Products of small matrices, one pair per row of the batch.
#pragma once

#include <cstdint>

namespace matlaw::solve
{
/// A matrix per row inside a batch-last array: entry (i, j) of row r is at `data[(i * stride + j) * ld + r]`.
template <typename Real>
struct MatrixView
{
  Real * data;
  std::int64_t stride;
};

/// c += sign * a b for every row; a is (p, q), b (q, r), c (p, r). `rows` is a multiple of native::row_block. `sign` is
/// 1 or -1.
template <typename Real>
void multiply_add(MatrixView<Real> c, MatrixView<const Real> a, MatrixView<const Real> b, Real sign, std::int64_t p,
                  std::int64_t q, std::int64_t r, std::int64_t ld, std::int64_t rows);

/// c += sign * a for every row; both are (p, r).
template <typename Real>
void add(MatrixView<Real> c, MatrixView<const Real> a, Real sign, std::int64_t p, std::int64_t r, std::int64_t ld,
         std::int64_t rows);
}
