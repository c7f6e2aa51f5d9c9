// Vectors (n, ld), one column per row of the batch: sums and scalings row by row.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace matlaw::solve
{
/// result[i] = <a, b> of row i, summed in double in the order of the components.
template <typename Real>
void dot(const Real * a, const Real * b, std::int64_t n, std::int64_t ld, double * result)
{
  std::fill_n(result, ld, 0.0);
  for (std::int64_t c = 0; c < n; c++)
    for (std::int64_t i = 0; i < ld; i++)
      result[i] += double(a[c * ld + i]) * double(b[c * ld + i]);
}

/// Euclidean norm of each row.
template <typename Real>
void norm(const Real * a, std::int64_t n, std::int64_t ld, double * result)
{
  dot(a, a, n, ld, result);
  for (std::int64_t i = 0; i < ld; i++)
    result[i] = std::sqrt(result[i]);
}

/// y += factor[i] * x
template <typename Real>
void add_scaled(Real * y, const double * factor, const Real * x, std::int64_t n, std::int64_t ld)
{
  for (std::int64_t c = 0; c < n; c++)
    for (std::int64_t i = 0; i < ld; i++)
      y[c * ld + i] = Real(double(y[c * ld + i]) + factor[i] * double(x[c * ld + i]));
}

/// y = factor[i] * x; exactly zero where the factor is, whatever x holds.
template <typename Real>
void scale(Real * y, const double * factor, const Real * x, std::int64_t n, std::int64_t ld)
{
  for (std::int64_t c = 0; c < n; c++)
    for (std::int64_t i = 0; i < ld; i++)
      y[c * ld + i] = factor[i] == 0.0 ? Real(0) : Real(factor[i] * double(x[c * ld + i]));
}

/// y += x in the rows where `flags` is set; nothing else changes.
template <typename Real>
void add_where(const std::uint8_t * flags, Real * y, const Real * x, std::int64_t n, std::int64_t ld)
{
  for (std::int64_t c = 0; c < n; c++)
    for (std::int64_t i = 0; i < ld; i++)
      y[c * ld + i] = flags[i] ? y[c * ld + i] + x[c * ld + i] : y[c * ld + i];
}
}
