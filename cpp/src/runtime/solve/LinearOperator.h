// What the iterative linear solvers see of a matrix.
#pragma once

#include <algorithm>
#include <cstdint>

namespace matlaw::solve
{
/// The matrices of all rows of a batch, (n, n) each, as functions of vectors (n, ld).
template <typename Real>
class LinearOperator
{
public:
  virtual ~LinearOperator() = default;

  virtual std::int64_t size() const = 0;

  /// product = A v
  virtual void multiply(const Real * v, Real * product, std::int64_t ld, std::int64_t rows) = 0;

  /// z = M^{-1} r; without a preconditioner M = I.
  virtual void precondition(const Real * r, Real * z, std::int64_t ld, std::int64_t) { std::copy_n(r, size() * ld, z); }
};
}
