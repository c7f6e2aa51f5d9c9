#include "solve/row_kernels.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "matlaw/native/abi.h"
#include "solve/simd.h"

namespace matlaw::solve
{
namespace
{
// Written once, compiled by the compiler's own vectoriser for each CPU level.
MATLAW_INLINE void norms_of(const auto * b, std::int64_t n, std::int64_t ld, double * norm)
{
  constexpr auto block = native::row_block;
  for (std::int64_t row = 0; row < ld; row += block)
  {
    double sums[block] = {}; // stays in registers
    for (std::int64_t c = 0; c < n; c++)
      for (std::int64_t i = 0; i < block; i++)
        sums[i] += double(b[c * ld + row + i]) * double(b[c * ld + row + i]);
    for (std::int64_t i = 0; i < block; i++)
      norm[row + i] = __builtin_sqrt(sums[i]);
  }
}

MATLAW_INLINE void step_of(auto * x, const auto * b, const std::int64_t * moves, std::int64_t n, std::int64_t ld)
{
  for (std::int64_t c = 0; c < n; c++)
    for (std::int64_t i = 0; i < ld; i++)
    {
      const auto moved = x[c * ld + i] + b[c * ld + i];
      x[c * ld + i] = moves[i] ? moved : x[c * ld + i];
    }
}

/// x - x is NaN where x is not finite, and elsewhere 0, of which no bit is set.
MATLAW_INLINE bool finite(const auto * values, std::int64_t count)
{
  using Real = std::remove_cvref_t<decltype(*values)>;
  using Bits = std::conditional_t<sizeof(Real) == 8, std::uint64_t, std::uint32_t>;
  Bits bits = 0;
  for (std::int64_t i = 0; i < count; i++)
    bits |= std::bit_cast<Bits>(Real(values[i] - values[i]));
  return bits == 0;
}

#define MATLAW_VARIANTS(name, result, parameters, call)                                                                \
  template <typename Real>                                                                                             \
  result name##_baseline parameters                                                                                    \
  {                                                                                                                    \
    return call;                                                                                                       \
  }                                                                                                                    \
  MATLAW_VARIANTS_OF_X86(name, result, parameters, call)

#if defined(__x86_64__)
#define MATLAW_VARIANTS_OF_X86(name, result, parameters, call)                                                         \
  template <typename Real>                                                                                             \
  MATLAW_TARGET_AVX2 result name##_avx2 parameters                                                                     \
  {                                                                                                                    \
    return call;                                                                                                       \
  }                                                                                                                    \
  template <typename Real>                                                                                             \
  MATLAW_TARGET_AVX512 result name##_avx512 parameters                                                                 \
  {                                                                                                                    \
    return call;                                                                                                       \
  }
#else
#define MATLAW_VARIANTS_OF_X86(name, result, parameters, call)                                                         \
  template <typename Real>                                                                                             \
  constexpr auto name##_avx2 = name##_baseline<Real>;                                                                  \
  template <typename Real>                                                                                             \
  constexpr auto name##_avx512 = name##_baseline<Real>;
#endif

MATLAW_VARIANTS(norms, void, (const Real * b, std::int64_t n, std::int64_t ld, double * norm), norms_of(b, n, ld, norm))
MATLAW_VARIANTS(step, void, (Real * x, const Real * b, const std::int64_t * moves, std::int64_t n, std::int64_t ld),
                step_of(x, b, moves, n, ld))
MATLAW_VARIANTS(finite, bool, (const Real * values, std::int64_t count), finite(values, count))
}

template <typename Real>
void norms(const Real * b, std::int64_t n, std::int64_t ld, double * norm)
{
  static const auto chosen = for_this_cpu(&norms_baseline<Real>, &norms_avx2<Real>, &norms_avx512<Real>);
  chosen(b, n, ld, norm);
}

template <typename Real>
void step_rows(Real * x, const Real * b, const std::int64_t * moves, std::int64_t n, std::int64_t ld)
{
  static const auto chosen = for_this_cpu(&step_baseline<Real>, &step_avx2<Real>, &step_avx512<Real>);
  chosen(x, b, moves, n, ld);
}

template <typename Real>
bool all_finite(const Real * values, std::int64_t count)
{
  static const auto chosen = for_this_cpu(&finite_baseline<Real>, &finite_avx2<Real>, &finite_avx512<Real>);
  return chosen(values, count);
}

#define MATLAW_INSTANTIATE(Real)                                                                                       \
  template void norms<Real>(const Real *, std::int64_t, std::int64_t, double *);                                       \
  template void step_rows<Real>(Real *, const Real *, const std::int64_t *, std::int64_t, std::int64_t);               \
  template bool all_finite<Real>(const Real *, std::int64_t);
MATLAW_INSTANTIATE(double)
MATLAW_INSTANTIATE(float)
#undef MATLAW_INSTANTIATE
}
