// A pass of BiCGStab for all rows of a batch at once.
#pragma once

#include <cstdint>
#include <vector>

#include "solve/KrylovRows.h"
#include "solve/LinearOperator.h"
#include "support/AlignedBuffer.h"

namespace matlaw::solve
{
template <typename Real>
struct BiCGStabWorkspace
{
  support::AlignedBuffer<Real> r, shadow, p, v, t, y;
  std::vector<double> rho, alpha, omega, beta, dots, squares;
  std::vector<std::uint8_t> running;
};

/// Iterates, preconditioned from the right, until the residual of every running row has fallen to its tolerance by its
/// recurrence, its iterations are used up, or its recurrence breaks down; then x is what it has come to. r and norm are
/// left as they were. An iteration multiplies by A twice.
template <typename Real>
void bicgstab_pass(LinearOperator<Real> & A, KrylovRows<Real> & rows, BiCGStabWorkspace<Real> & w);
}
