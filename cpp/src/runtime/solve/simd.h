// Vectors over rows of the batch, and functions compiled for several CPU levels.
//
// What is written over them is compiled for three levels of x86-64 and chosen when the library first runs, so the
// library runs everywhere. Lanes never mix: how many share a vector changes no bit of a row. What may differ between a
// CPU with FMA and one without is rounding.
#pragma once

#include <cstdint>
#include <type_traits>

#define MATLAW_INLINE inline __attribute__((always_inline))
#if defined(__x86_64__)
#define MATLAW_TARGET_AVX2 __attribute__((target("avx2,fma")))
#define MATLAW_TARGET_AVX512                                                                                           \
  __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,avx2,fma,prefer-vector-width=512")))
#endif

namespace matlaw::solve
{
template <typename Real, int Lanes>
struct Vectors
{
  using Integer = std::conditional_t<sizeof(Real) == 8, std::int64_t, std::int32_t>;
  typedef Real Value __attribute__((vector_size(Lanes * sizeof(Real))));
  typedef Integer Mask __attribute__((vector_size(Lanes * sizeof(Real))));
};

/// Picks the variant for the CPU that this runs on.
template <typename Function>
Function for_this_cpu(Function baseline, [[maybe_unused]] Function avx2, [[maybe_unused]] Function avx512)
{
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("fma"))
    return avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return avx2;
#endif
  return baseline;
}
}
