#include "matlaw/solve/BatchedLU.h"

#include <cstring>

#include "matlaw/native/abi.h"
#include "solve/simd.h"
#include "support/AlignedBuffer.h"

namespace matlaw::solve
{
namespace
{
template <typename Real, int Lanes>
MATLAW_INLINE bool any(typename Vectors<Real, Lanes>::Mask mask)
{
  typename Vectors<Real, Lanes>::Integer sum = 0;
  for (int lane = 0; lane < Lanes; lane++)
    sum |= mask[lane];
  return sum != 0;
}

/// Eliminates one block: `a` holds n * n vectors, `x` n * m; both are overwritten. Returns the lanes that are singular.
template <typename Real, int Lanes>
MATLAW_INLINE typename Vectors<Real, Lanes>::Mask eliminate(typename Vectors<Real, Lanes>::Value * __restrict a,
                                                            typename Vectors<Real, Lanes>::Value * __restrict x,
                                                            std::int64_t n, std::int64_t m)
{
  using Value = typename Vectors<Real, Lanes>::Value;
  using Mask = typename Vectors<Real, Lanes>::Mask;
  const Value zero = {};
  const Value one = zero + Real(1);
  Mask singular = {};
  for (std::int64_t k = 0; k < n; k++)
  {
    // The largest magnitude on or below the diagonal, the first of equals. A NaN never compares as larger.
    Value largest = a[k * n + k];
    largest = largest < zero ? -largest : largest;
    Mask pivot_row = Mask{} + typename Vectors<Real, Lanes>::Integer(k);
    for (std::int64_t i = k + 1; i < n; i++)
    {
      Value size = a[i * n + k];
      size = size < zero ? -size : size;
      const Mask larger = size > largest;
      largest = larger ? size : largest;
      pivot_row = larger ? Mask{} + typename Vectors<Real, Lanes>::Integer(i) : pivot_row;
    }
    if (any<Real, Lanes>(pivot_row != typename Vectors<Real, Lanes>::Integer(k)))
      for (std::int64_t i = k + 1; i < n; i++)
      {
        const Mask swap = pivot_row == typename Vectors<Real, Lanes>::Integer(i);
        if (!any<Real, Lanes>(swap))
          continue;
        for (std::int64_t j = k; j < n; j++)
        {
          const Value upper = a[k * n + j], lower = a[i * n + j];
          a[k * n + j] = swap ? lower : upper;
          a[i * n + j] = swap ? upper : lower;
        }
        for (std::int64_t j = 0; j < m; j++)
        {
          const Value upper = x[k * m + j], lower = x[i * m + j];
          x[k * m + j] = swap ? lower : upper;
          x[i * m + j] = swap ? upper : lower;
        }
      }
    const Value difference = a[k * n + k] - a[k * n + k];                 // NaN unless finite
    const Mask bad = (a[k * n + k] == zero) | (difference != difference); // no division by zero below
    singular |= bad;
    const Value inverse = one / (bad ? one : a[k * n + k]);
    a[k * n + k] = inverse;
    for (std::int64_t i = k + 1; i < n; i++)
    {
      const Value factor = a[i * n + k] * inverse;
      for (std::int64_t j = k + 1; j < n; j++)
        a[i * n + j] -= factor * a[k * n + j];
      for (std::int64_t j = 0; j < m; j++)
        x[i * m + j] -= factor * x[k * m + j];
    }
  }
  for (std::int64_t k = n - 1; k >= 0; k--)
  {
    for (std::int64_t j = 0; j < m; j++)
    {
      Value sum = x[k * m + j];
      for (std::int64_t i = k + 1; i < n; i++)
        sum -= a[k * n + i] * x[i * m + j];
      x[k * m + j] = sum * a[k * n + k];
    }
  }
  return singular;
}

template <typename Real, int Lanes>
MATLAW_INLINE void solve_blocks(const Real * A, Real * b, std::int64_t n, std::int64_t m, std::int64_t ld,
                                std::int64_t rows, std::uint8_t * singular, Real * workspace)
{
  using Value = typename Vectors<Real, Lanes>::Value;
  auto * a = reinterpret_cast<Value *>(workspace);
  auto * x = a + n * n;
  for (std::int64_t row = 0; row < rows; row += Lanes)
  {
    // Gathered once: components lie ld apart, which for some ld all map to the same few cache lines.
    for (std::int64_t c = 0; c < n * n; c++)
      std::memcpy(a + c, A + c * ld + row, sizeof(Value));
    for (std::int64_t c = 0; c < n * m; c++)
      std::memcpy(x + c, b + c * ld + row, sizeof(Value));
    const auto bad = eliminate<Real, Lanes>(a, x, n, m);
    for (std::int64_t c = 0; c < n * m; c++)
      std::memcpy(b + c * ld + row, x + c, sizeof(Value));
    for (int lane = 0; lane < Lanes; lane++)
      singular[row + lane] = bad[lane] != 0;
  }
}

#define MATLAW_ARGUMENTS                                                                                               \
  const Real *A, Real *b, std::int64_t n, std::int64_t m, std::int64_t ld, std::int64_t rows, std::uint8_t *singular,  \
      Real *workspace

template <typename Real>
void solve_baseline(MATLAW_ARGUMENTS)
{
  solve_blocks<Real, 16 / sizeof(Real)>(A, b, n, m, ld, rows, singular, workspace);
}

#if defined(__x86_64__)
template <typename Real>
MATLAW_TARGET_AVX2 void solve_avx2(MATLAW_ARGUMENTS)
{
  solve_blocks<Real, 32 / sizeof(Real)>(A, b, n, m, ld, rows, singular, workspace);
}

template <typename Real>
MATLAW_TARGET_AVX512 void solve_avx512(MATLAW_ARGUMENTS)
{
  // 8 rows a vector for float too: a block of 8 rows is the unit everywhere.
  solve_blocks<Real, native::row_block>(A, b, n, m, ld, rows, singular, workspace);
}
#else
template <typename Real>
constexpr auto solve_avx2 = solve_baseline<Real>;
template <typename Real>
constexpr auto solve_avx512 = solve_baseline<Real>;
#endif
}

template <typename Real>
void lu_solve(const Real * A, Real * b, std::int64_t n, std::int64_t m, std::int64_t ld, std::int64_t rows,
              std::uint8_t * singular)
{
  static const auto solver = for_this_cpu(&solve_baseline<Real>, &solve_avx2<Real>, &solve_avx512<Real>);
  thread_local support::AlignedBuffer<Real> workspace;
  solver(A, b, n, m, ld, rows, singular, workspace.reserve((n * n + n * m) * native::row_block));
}

template void lu_solve<double>(const double *, double *, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                               std::uint8_t *);
template void lu_solve<float>(const float *, float *, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                              std::uint8_t *);
}
