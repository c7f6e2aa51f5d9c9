// Chain rule: sums of products of derivative blocks.
#pragma once

#include <cstdint>

#include "aoti/Slot.h"
#include "solve/multiply.h"

namespace matlaw::aoti
{
/// to += sign * left * right, or to += sign * left where `right` is the identity. Matrices in the arena.
struct Product
{
  Block to, left, right;
  std::int64_t p = 0, q = 0, r = 0;

  template <typename Real>
  void run(Real * arena, std::int64_t ld, Real sign) const
  {
    const auto view = [&](const Block & block)
    { return solve::MatrixView<Real>{arena + block.offset * ld, block.stride}; };
    const auto read_only = [&](const Block & block)
    { return solve::MatrixView<const Real>{arena + block.offset * ld, block.stride}; };
    if (right.kind == Block::Kind::IDENTITY)
      solve::add<Real>(view(to), read_only(left), sign, p, q, ld, ld);
    else
      solve::multiply_add<Real>(view(to), read_only(left), read_only(right), sign, p, q, r, ld, ld);
  }
};
}
