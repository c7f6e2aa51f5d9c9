// A preconditioner made of diagonal blocks of the matrix.
#pragma once

#include <cstdint>
#include <vector>

#include "matlaw/solve/LinearStructure.h"
#include "support/AlignedBuffer.h"

namespace matlaw::solve
{
/// Holds the inverses of the blocks of M, row by row of the batch. A block that is singular in a row preconditions
/// nothing there: the identity takes its place.
template <typename Real>
class BlockPreconditioner
{
public:
  /// For a solve that begins with `rows` rows: all of them stale. `blocks` must outlive it.
  void reset(const std::vector<DiagonalBlock> & blocks, std::int64_t rows);

  /// Rows whose blocks have to be given anew before the next apply()
  std::vector<std::uint8_t> & stale() { return _stale; }
  bool any_stale() const;

  /// Where the caller puts M, the blocks one after the other, (preconditioner_size, ld)
  Real * matrix(std::int64_t ld);

  /// Inverts M in the stale rows; the others keep what they have.
  void build(std::int64_t ld, std::int64_t rows);

  /// Shrinks to these positions of the current rows.
  void keep(const std::vector<std::int32_t> & positions);

  /// z = M^{-1} r, (n, ld); components in no block are copied.
  void apply(const Real * r, Real * z, std::int64_t n, std::int64_t ld) const;

private:
  const std::vector<DiagonalBlock> * _blocks = nullptr;
  std::int64_t _entries = 0, _ld = 0;
  support::AlignedBuffer<Real> _matrix, _inverse, _inverse_next, _identity;
  std::vector<std::uint8_t> _stale, _singular;
};
}
