#include "solve_rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "tensors.h"

namespace matlaw::host
{
namespace
{
constexpr std::int64_t largest_size = 6;
using Matrix = std::array<std::array<double, largest_size>, largest_size>;

/// x holds b, (k, m) row-major. False when the matrix is singular or not finite.
bool solve(Matrix & a, std::int64_t k, double * x, std::int64_t m)
{
  for (std::int64_t column = 0; column < k; ++column)
  {
    std::int64_t pivot = column;
    for (std::int64_t row = column + 1; row < k; ++row)
      if (std::abs(a[row][column]) > std::abs(a[pivot][column]))
        pivot = row;
    if (!(std::abs(a[pivot][column]) > 0.0) || !std::isfinite(a[pivot][column]))
      return false;
    if (pivot != column)
    {
      std::swap(a[pivot], a[column]);
      for (std::int64_t j = 0; j < m; ++j)
        std::swap(x[pivot * m + j], x[column * m + j]);
    }
    for (std::int64_t row = column + 1; row < k; ++row)
    {
      const double factor = a[row][column] / a[column][column];
      for (std::int64_t j = column + 1; j < k; ++j)
        a[row][j] -= factor * a[column][j];
      for (std::int64_t j = 0; j < m; ++j)
        x[row * m + j] -= factor * x[column * m + j];
    }
  }
  for (std::int64_t row = k - 1; row >= 0; --row)
    for (std::int64_t j = 0; j < m; ++j)
    {
      for (std::int64_t i = row + 1; i < k; ++i)
        x[row * m + j] -= a[row][i] * x[i * m + j];
      x[row * m + j] /= a[row][row];
    }
  return true;
}
}

at::Tensor solve_rows(const at::Tensor & a, Span<const int> free, const at::Tensor & b)
{
  const at::Tensor matrices = to_host(a);
  at::Tensor x = to_host(b).clone();
  const auto k = static_cast<std::int64_t>(free.size());
  const std::int64_t m = x.size(2);
  const double * from = matrices.const_data_ptr<double>();
  double * to = x.mutable_data_ptr<double>();
  for (std::int64_t point = 0; point < x.size(0); ++point, from += 36, to += k * m)
  {
    Matrix matrix;
    for (std::int64_t i = 0; i < k; ++i)
      for (std::int64_t j = 0; j < k; ++j)
        matrix[i][j] = from[6 * free[static_cast<std::size_t>(i)] + free[static_cast<std::size_t>(j)]];
    if (!solve(matrix, k, to, m))
      std::fill_n(to, k * m, std::numeric_limits<double>::quiet_NaN());
  }
  return x.to(b.options());
}
}
