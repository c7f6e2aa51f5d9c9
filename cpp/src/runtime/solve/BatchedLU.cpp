#include "matlaw/solve/BatchedLU.h"

#include <cstring>

#include "matlaw/native/abi.h"
#include "solve/simd.h"
#include "support/AlignedBuffer.h"

namespace matlaw::solve
{
namespace
{
/// True when the mask is set in any lane.
template <typename Real, int Lanes>
MATLAW_INLINE bool any(typename Vectors<Real, Lanes>::Mask mask)
{
  std::int64_t words[sizeof(mask) / sizeof(std::int64_t)];
  std::memcpy(words, &mask, sizeof(mask));
  std::int64_t all = 0;
  for (const auto word : words)
    all |= word;
  return all != 0;
}

/// Eliminates one block and solves it: `a` holds the rows of [A | b], n rows of n + m vectors, and is overwritten; the
/// solutions take the place of b. Returns the lanes that are singular.
template <typename Real, int Lanes>
MATLAW_INLINE typename Vectors<Real, Lanes>::Mask eliminate(typename Vectors<Real, Lanes>::Value * a, std::int64_t n,
                                                            std::int64_t m)
{
  using Value = typename Vectors<Real, Lanes>::Value;
  using Mask = typename Vectors<Real, Lanes>::Mask;
  using Integer = typename Vectors<Real, Lanes>::Integer;
  const Value zero = {};
  const Value one = zero + Real(1);
  const auto width = n + m;
  Mask singular = {};
  for (std::int64_t k = 0; k < n; k++)
  {
    Value * upper = a + k * width;
    // The largest magnitude on or below the diagonal, the first of equals. A NaN never compares as larger.
    Value largest = upper[k];
    largest = largest < zero ? -largest : largest;
    Mask pivot_row = Mask{} + Integer(k);
    for (std::int64_t i = k + 1; i < n; i++)
    {
      Value size = a[i * width + k];
      size = size < zero ? -size : size;
      const Mask larger = size > largest;
      largest = larger ? size : largest;
      pivot_row = larger ? Mask{} + Integer(i) : pivot_row;
    }
    if (any<Real, Lanes>(pivot_row != Integer(k)))
      for (std::int64_t i = k + 1; i < n; i++)
      {
        const Mask swap = pivot_row == Integer(i);
        if (!any<Real, Lanes>(swap))
          continue;
        Value * lower = a + i * width;
        for (std::int64_t j = k; j < width; j++)
        {
          const Value u = upper[j], l = lower[j];
          upper[j] = swap ? l : u;
          lower[j] = swap ? u : l;
        }
      }
    const Value difference = upper[k] - upper[k]; // zero when finite, else NaN
    const Mask sound = (difference == zero) & (upper[k] != zero);
    singular |= ~sound;
    const Value inverse = one / (sound ? upper[k] : one); // never divides by zero
    upper[k] = inverse;
    // Two rows at a time share the loads of the upper one.
    std::int64_t i = k + 1;
    for (; i + 1 < n; i += 2)
    {
      Value * __restrict first = a + i * width;
      Value * __restrict second = first + width;
      const Value * __restrict pivot = upper;
      const Value f = first[k] * inverse, g = second[k] * inverse;
      for (std::int64_t j = k + 1; j < width; j++)
      {
        const Value u = pivot[j];
        first[j] -= f * u;
        second[j] -= g * u;
      }
    }
    if (i < n)
    {
      Value * __restrict last = a + i * width;
      const Value * __restrict pivot = upper;
      const Value f = last[k] * inverse;
      for (std::int64_t j = k + 1; j < width; j++)
        last[j] -= f * pivot[j];
    }
  }
  for (std::int64_t k = n - 1; k >= 0; k--)
    for (std::int64_t j = n; j < width; j++)
    {
      Value sum = a[k * width + j];
      for (std::int64_t i = k + 1; i < n; i++)
        sum -= a[k * width + i] * a[i * width + j];
      a[k * width + j] = sum * a[k * width + k];
    }
  return singular;
}

template <typename Real, int Lanes>
MATLAW_INLINE void solve_blocks(const Real * A, Real * b, std::int64_t n, std::int64_t m, std::int64_t ld,
                                std::int64_t rows, std::uint8_t * singular, Real * workspace)
{
  using Value = typename Vectors<Real, Lanes>::Value;
  auto * a = reinterpret_cast<Value *>(workspace);
  const auto width = n + m;
  for (std::int64_t row = 0; row < rows; row += Lanes)
  {
    // Gathered once: components lie ld apart, which for some ld all map to the same few cache lines.
    for (std::int64_t i = 0; i < n; i++)
    {
      for (std::int64_t j = 0; j < n; j++)
        std::memcpy(a + i * width + j, A + (i * n + j) * ld + row, sizeof(Value));
      for (std::int64_t j = 0; j < m; j++)
        std::memcpy(a + i * width + n + j, b + (i * m + j) * ld + row, sizeof(Value));
    }
    const auto bad = eliminate<Real, Lanes>(a, n, m);
    for (std::int64_t i = 0; i < n; i++)
      for (std::int64_t j = 0; j < m; j++)
        std::memcpy(b + (i * m + j) * ld + row, a + i * width + n + j, sizeof(Value));
    for (int lane = 0; lane < Lanes; lane++)
      singular[row + lane] = bad[lane] != 0;
  }
}

/// One equation: what the elimination comes down to.
template <typename Real>
void divide(const Real * A, Real * b, std::int64_t m, std::int64_t ld, std::int64_t rows, std::uint8_t * singular)
{
  for (std::int64_t i = 0; i < rows; i++)
    singular[i] = !(A[i] - A[i] == 0) || A[i] == 0;
  for (std::int64_t j = 0; j < m; j++)
    for (std::int64_t i = 0; i < rows; i++)
      b[j * ld + i] *= Real(1) / (singular[i] ? Real(1) : A[i]);
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
  if (n == 1)
    return divide(A, b, m, ld, rows, singular);
  static const auto solver = for_this_cpu(&solve_baseline<Real>, &solve_avx2<Real>, &solve_avx512<Real>);
  thread_local support::AlignedBuffer<Real> workspace;
  solver(A, b, n, m, ld, rows, singular, workspace.reserve((n * n + n * m) * native::row_block));
}

template void lu_solve<double>(const double *, double *, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                               std::uint8_t *);
template void lu_solve<float>(const float *, float *, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                              std::uint8_t *);
}
