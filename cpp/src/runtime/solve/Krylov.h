// Iterative linear solves of many rows at once.
#pragma once

#include <cstdint>
#include <vector>

#include "matlaw/solve/KrylovConfig.h"
#include "solve/BiCGStab.h"
#include "solve/Gmres.h"
#include "solve/KrylovRows.h"
#include "solve/LinearOperator.h"

namespace matlaw::solve
{
template <typename Real>
struct KrylovWorkspace
{
  KrylovRows<Real> rows;
  GmresWorkspace<Real> gmres;
  BiCGStabWorkspace<Real> bicgstab;
  support::AlignedBuffer<Real> r;
  std::vector<double> previous, initial, norm;
  std::vector<std::int32_t> without_gain;
};

/// Solves A x = b for every active row on its own, from x = 0.
///
/// `b` and `x` are (n, ld); x is zero in rows that are not active. A row is judged by its true residual b - A x.
/// `failed[i]` becomes 1 for an active row that used up its iterations, whose residual is not finite, or that gains
/// nothing any more (a singular matrix) before its residual is small to rounding, sqrt(epsilon) |b|; 0 otherwise.
/// `iterations` counts them. What a row gets depends on that row alone, to the last bit, where that holds for the
/// operator.
template <typename Real>
void krylov_solve(LinearOperator<Real> & A, const Real * b, Real * x, std::int64_t ld, std::int64_t rows,
                  const KrylovConfig & config, const std::uint8_t * active, std::uint8_t * failed,
                  std::int32_t * iterations, KrylovWorkspace<Real> & w);
}
