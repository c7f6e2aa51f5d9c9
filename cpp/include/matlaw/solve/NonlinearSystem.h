// A batch of square nonlinear systems r(u) = 0, one per row: what the Newton solver drives.
#pragma once

#include <cstdint>
#include <vector>

namespace matlaw::solve
{
/// Compiled graphs and eager models are two such systems.
///
/// Component c of row i of an array is at `array[c * ld + i]`. A system owns what does not change in a solve (its
/// givens) for a working set of rows; `rows` below is the size of that set. Arrays hold `ld` rows, ld being `rows`
/// rounded up to a multiple of native::row_block; what lies past `rows` is padding, copies of the last row.
template <typename Real>
class NonlinearSystem
{
public:
  virtual ~NonlinearSystem() = default;

  /// Number of unknowns of one row.
  virtual std::int64_t size() const = 0;

  /// Shrinks the working set to these positions of the current one (ascending).
  virtual void keep(const std::vector<std::int32_t> & positions) = 0;

  /// b = -r(u), (size, ld)
  virtual void residual(const Real * u, Real * b, std::int64_t ld, std::int64_t rows) = 0;

  /// A = dr/du, (size, size, ld), and b = -r(u), (size, ld)
  virtual void jacobian(const Real * u, Real * A, Real * b, std::int64_t ld, std::int64_t rows) = 0;
};
}
