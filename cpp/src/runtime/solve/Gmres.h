// One cycle of GMRES for all rows of a batch at once.
#pragma once

#include <cstdint>
#include <vector>

#include "solve/KrylovRows.h"
#include "solve/LinearOperator.h"
#include "support/AlignedBuffer.h"

namespace matlaw::solve
{
template <typename Real>
struct GmresWorkspace
{
  support::AlignedBuffer<Real> basis, z, w;
  std::vector<double> H, cosine, sine, g, y, scalar, before;
  std::vector<std::int64_t> columns;
  std::vector<std::uint8_t> running;
};

/// Builds a basis of at most `restart` columns by modified Gram-Schmidt, preconditioned from the right, and adds to the
/// x of every running row what minimises its residual over it. A row stops building when its residual has fallen to its
/// tolerance, its iterations are used up, or its next column adds nothing. r and norm are left as they were.
/// Source: Y. Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., section 6.5
template <typename Real>
void gmres_cycle(LinearOperator<Real> & A, KrylovRows<Real> & rows, std::int64_t restart, GmresWorkspace<Real> & w);
}
