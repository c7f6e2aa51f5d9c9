#include "transpose.h"

#include <algorithm>
#include <type_traits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "solve/simd.h"

namespace matlaw::runtime
{
namespace
{
/// `from` (rows, from_step) to `to` (columns, to_step): a tile of rows at a time, so that what one column reads of a
/// cache line, the next finds there.
template <typename Real>
void transpose(const Real * from, std::int64_t from_step, std::int64_t rows, std::int64_t columns, Real * to,
               std::int64_t to_step)
{
  constexpr std::int64_t tile = 16;
  for (std::int64_t row = 0; row < rows; row += tile)
  {
    const auto end = std::min(rows, row + tile);
    for (std::int64_t column = 0; column < columns; column++)
      for (std::int64_t i = row; i < end; i++)
        to[column * to_step + i] = from[i * from_step + column];
  }
}

#if defined(__x86_64__)
/// The same for double, in squares of 4 and pairs of columns or rows; what is left over one by one.
MATLAW_TARGET_AVX2 void transpose_avx2(const double * from, std::int64_t from_step, std::int64_t rows,
                                       std::int64_t columns, double * to, std::int64_t to_step)
{
  const auto whole_rows = rows - rows % 4;
  for (std::int64_t row = 0; row < whole_rows; row += 4)
  {
    const double * a = from + row * from_step;
    std::int64_t column = 0;
    for (; column + 4 <= columns; column += 4)
    {
      const auto r0 = _mm256_loadu_pd(a + column), r1 = _mm256_loadu_pd(a + from_step + column);
      const auto r2 = _mm256_loadu_pd(a + 2 * from_step + column), r3 = _mm256_loadu_pd(a + 3 * from_step + column);
      const auto low01 = _mm256_unpacklo_pd(r0, r1), high01 = _mm256_unpackhi_pd(r0, r1);
      const auto low23 = _mm256_unpacklo_pd(r2, r3), high23 = _mm256_unpackhi_pd(r2, r3);
      double * b = to + column * to_step + row;
      _mm256_storeu_pd(b, _mm256_permute2f128_pd(low01, low23, 0x20));
      _mm256_storeu_pd(b + to_step, _mm256_permute2f128_pd(high01, high23, 0x20));
      _mm256_storeu_pd(b + 2 * to_step, _mm256_permute2f128_pd(low01, low23, 0x31));
      _mm256_storeu_pd(b + 3 * to_step, _mm256_permute2f128_pd(high01, high23, 0x31));
    }
    for (; column + 2 <= columns; column += 2)
    {
      const auto even = _mm256_set_m128d(_mm_loadu_pd(a + 2 * from_step + column), _mm_loadu_pd(a + column));
      const auto odd = _mm256_set_m128d(_mm_loadu_pd(a + 3 * from_step + column), _mm_loadu_pd(a + from_step + column));
      double * b = to + column * to_step + row;
      _mm256_storeu_pd(b, _mm256_unpacklo_pd(even, odd));
      _mm256_storeu_pd(b + to_step, _mm256_unpackhi_pd(even, odd));
    }
    for (; column < columns; column++)
      for (std::int64_t i = 0; i < 4; i++)
        to[column * to_step + row + i] = a[i * from_step + column];
  }
  std::int64_t row = whole_rows;
  for (; row + 2 <= rows; row += 2)
  {
    const double * a = from + row * from_step;
    std::int64_t column = 0;
    for (; column + 4 <= columns; column += 4)
    {
      const auto r0 = _mm256_loadu_pd(a + column), r1 = _mm256_loadu_pd(a + from_step + column);
      const auto even = _mm256_unpacklo_pd(r0, r1), odd = _mm256_unpackhi_pd(r0, r1);
      double * b = to + column * to_step + row;
      _mm_storeu_pd(b, _mm256_castpd256_pd128(even));
      _mm_storeu_pd(b + to_step, _mm256_castpd256_pd128(odd));
      _mm_storeu_pd(b + 2 * to_step, _mm256_extractf128_pd(even, 1));
      _mm_storeu_pd(b + 3 * to_step, _mm256_extractf128_pd(odd, 1));
    }
    for (; column < columns; column++)
      for (std::int64_t i = 0; i < 2; i++)
        to[column * to_step + row + i] = a[i * from_step + column];
  }
  for (; row < rows; row++)
    for (std::int64_t column = 0; column < columns; column++)
      to[column * to_step + row] = from[row * from_step + column];
}
#endif

template <typename Real>
void best_transpose(const Real * from, std::int64_t from_step, std::int64_t rows, std::int64_t columns, Real * to,
                    std::int64_t to_step)
{
#if defined(__x86_64__)
  if constexpr (std::is_same_v<Real, double>)
  {
    static const auto chosen = solve::for_this_cpu(&transpose<double>, &transpose_avx2, &transpose_avx2);
    return chosen(from, from_step, rows, columns, to, to_step);
  }
#endif
  transpose(from, from_step, rows, columns, to, to_step);
}
}

template <typename Real>
void rows_to_components(const Real * from, std::int64_t step, std::int64_t n, std::int64_t rows, Real * to,
                        std::int64_t ld)
{
  if (n == 1 && step == 1)
    std::copy_n(from, rows, to);
  else
    best_transpose(from, step, rows, n, to, ld);
}

template <typename Real>
void components_to_rows(const Real * from, std::int64_t ld, std::int64_t n, std::int64_t rows, Real * to,
                        std::int64_t step)
{
  if (n == 1 && step == 1)
    std::copy_n(from, rows, to);
  else
    // Few rows long, many columns wide: tiles of columns keep the cache lines that are written.
    for (std::int64_t row = 0; row < rows; row += 64)
      best_transpose(from + row, ld, n, std::min<std::int64_t>(64, rows - row), to + row * step, step);
}

#define MATLAW_INSTANTIATE(Real)                                                                                       \
  template void rows_to_components<Real>(const Real *, std::int64_t, std::int64_t, std::int64_t, Real *,               \
                                         std::int64_t);                                                                \
  template void components_to_rows<Real>(const Real *, std::int64_t, std::int64_t, std::int64_t, Real *, std::int64_t);
MATLAW_INSTANTIATE(double)
MATLAW_INSTANTIATE(float)
#undef MATLAW_INSTANTIATE
}
