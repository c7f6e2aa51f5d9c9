#include "solve/BlockPreconditioner.h"

#include <algorithm>

#include "matlaw/solve/BatchedLU.h"
#include "solve/multiply.h"
#include "support/rows.h"

namespace matlaw::solve
{
template <typename Real>
void BlockPreconditioner<Real>::reset(const std::vector<DiagonalBlock> & blocks, std::int64_t rows)
{
  _blocks = &blocks;
  _entries = 0;
  for (const auto & block : blocks)
    _entries += block.size * block.size;
  _ld = support::whole_blocks(rows);
  _stale.assign(rows, 1);
  _inverse.reserve(std::max<std::int64_t>(_entries, 1) * _ld);
}

template <typename Real>
bool BlockPreconditioner<Real>::any_stale() const
{
  return std::find(_stale.begin(), _stale.end(), 1) != _stale.end();
}

template <typename Real>
Real * BlockPreconditioner<Real>::matrix(std::int64_t ld)
{
  return _matrix.reserve(std::max<std::int64_t>(_entries, 1) * ld);
}

template <typename Real>
void BlockPreconditioner<Real>::build(std::int64_t ld, std::int64_t rows)
{
  Real * from = _matrix.data();
  Real * to = _inverse.data();
  _singular.assign(ld, 0);
  for (const auto & block : *_blocks)
  {
    const auto k = block.size;
    for (std::int64_t c = 0; c < k * k; c++)
      std::fill(from + c * ld + rows, from + (c + 1) * ld, from[c * ld + rows - 1]);
    Real * inverse = _identity.reserve(k * k * ld);
    for (std::int64_t c = 0; c < k * k; c++)
      std::fill_n(inverse + c * ld, ld, Real(c % (k + 1) == 0));
    lu_solve(from, inverse, k, k, ld, ld, _singular.data());
    for (std::int64_t c = 0; c < k * k; c++)
      for (std::int64_t i = 0; i < ld; i++)
      {
        // The padding goes with the last row.
        const bool fresh = _stale[std::min(i, rows - 1)] != 0;
        const Real value = _singular[i] ? Real(c % (k + 1) == 0) : inverse[c * ld + i];
        to[c * ld + i] = fresh ? value : to[c * ld + i];
      }
    from += k * k * ld;
    to += k * k * ld;
  }
  std::fill(_stale.begin(), _stale.end(), 0);
}

template <typename Real>
void BlockPreconditioner<Real>::keep(const std::vector<std::int32_t> & positions)
{
  const auto rows = std::int64_t(positions.size());
  const auto ld = support::whole_blocks(rows);
  Real * to = _inverse_next.reserve(std::max<std::int64_t>(_entries, 1) * ld);
  const Real * from = _inverse.data();
  for (std::int64_t c = 0; c < _entries; c++, from += _ld, to += ld)
  {
    for (std::int64_t i = 0; i < rows; i++)
      to[i] = from[positions[i]];
    std::fill(to + rows, to + ld, to[rows - 1]);
  }
  std::swap(_inverse, _inverse_next);
  for (std::int64_t i = 0; i < rows; i++)
    _stale[i] = _stale[positions[i]];
  _stale.resize(rows);
  _ld = ld;
}

template <typename Real>
void BlockPreconditioner<Real>::apply(const Real * r, Real * z, std::int64_t n, std::int64_t ld) const
{
  std::copy_n(r, n * ld, z);
  const Real * inverse = _inverse.data();
  for (const auto & [offset, k] : *_blocks)
  {
    std::fill_n(z + offset * ld, k * ld, Real(0));
    multiply_add<Real>({z + offset * ld, 1}, {inverse, k}, {r + offset * ld, 1}, Real(1), k, k, 1, ld, ld);
    inverse += k * k * ld;
  }
}

template class BlockPreconditioner<double>;
template class BlockPreconditioner<float>;
}
