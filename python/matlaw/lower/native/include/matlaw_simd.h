// Vectors of rows for generated kernels: arithmetic of GCC vector types, and functions of libmvec.
//
// Accuracy of exp, log, pow, tanh, sinh, cosh: 2 units in the last place; of sin and cos: 4 (libmvec's bound). NaN,
// infinities, zeros, denormals and negative arguments give what <math.h> gives. A lane's result does not depend on the
// other lanes.
#pragma once

#include <stdint.h>

#if !defined(__x86_64__)
#error "native kernels are for x86-64; compile with --backend inductor on this machine"
#endif

#if defined(MATLAW_FLOAT32)
typedef float real;
typedef int32_t mask_bits;
#if defined(__AVX2__)
#define MATLAW_LANES 8
#else
#define MATLAW_LANES 4
#endif
#else
typedef double real;
typedef int64_t mask_bits;
#if defined(__AVX512F__)
#define MATLAW_LANES 8
#elif defined(__AVX2__)
#define MATLAW_LANES 4
#else
#define MATLAW_LANES 2
#endif
#endif

typedef real rows __attribute__((vector_size(MATLAW_LANES * sizeof(real)), may_alias));
typedef mask_bits mask __attribute__((vector_size(MATLAW_LANES * sizeof(real))));

#define MATLAW_INLINE static inline __attribute__((always_inline, unused))

extern "C"
{
#if defined(MATLAW_FLOAT32)
#if MATLAW_LANES == 8
#define MATLAW_VECTOR_FUNCTION(name, parameters) _ZGVdN8##parameters##_##name##f
#else
#define MATLAW_VECTOR_FUNCTION(name, parameters) _ZGVbN4##parameters##_##name##f
#endif
#elif MATLAW_LANES == 8
#define MATLAW_VECTOR_FUNCTION(name, parameters) _ZGVeN8##parameters##_##name
#elif MATLAW_LANES == 4
#define MATLAW_VECTOR_FUNCTION(name, parameters) _ZGVdN4##parameters##_##name
#else
#define MATLAW_VECTOR_FUNCTION(name, parameters) _ZGVbN2##parameters##_##name
#endif
  rows MATLAW_VECTOR_FUNCTION(log, v)(rows);
  rows MATLAW_VECTOR_FUNCTION(tanh, v)(rows);
  rows MATLAW_VECTOR_FUNCTION(sin, v)(rows);
  rows MATLAW_VECTOR_FUNCTION(cos, v)(rows);
  rows MATLAW_VECTOR_FUNCTION(pow, vv)(rows, rows);
}

MATLAW_INLINE rows load(const real * component, int64_t row)
{
  return *(const rows *)(component + row);
}
MATLAW_INLINE void store(real * component, int64_t row, rows x)
{
  *(rows *)(component + row) = x;
}
MATLAW_INLINE rows all(real x)
{
  return x - (rows){};
}

/// Products with numbers that all rows share: y[i] is the sum of w[i * step + j * stride] * x[j] over j < n, term by
/// term in this order. Eight results at once keep the adders busy.
template <int n, int64_t stride>
static __attribute__((noinline, unused)) void dense(const real * w, int64_t step, const rows * x, int m, rows * y)
{
  constexpr int block = 8;
  int i = 0;
  for (; i + block <= m; i += block, w += block * step)
  {
    rows sum[block] = {};
    for (int j = 0; j < n; ++j)
#pragma GCC unroll 8
      for (int k = 0; k < block; ++k)
        sum[k] = sum[k] + w[k * step + j * stride] * x[j];
#pragma GCC unroll 8
    for (int k = 0; k < block; ++k)
      y[i + k] = sum[k];
  }
  for (; i < m; ++i, w += step)
  {
    rows sum = {};
    for (int j = 0; j < n; ++j)
      sum = sum + w[j * stride] * x[j];
    y[i] = sum;
  }
}

MATLAW_INLINE rows where(mask m, rows a, rows b)
{
  return m ? a : b;
}
MATLAW_INLINE mask all_mask(bool truth)
{
  return (mask){} - (mask_bits)truth;
}

MATLAW_INLINE bool any_of(mask m)
{
  mask_bits any = 0;
  for (int lane = 0; lane < MATLAW_LANES; ++lane)
    any |= m[lane];
  return any;
}

// NaN when either is NaN, as torch.maximum and torch.minimum.
MATLAW_INLINE rows max_of(rows a, rows b)
{
  return ((a > b) | (a != a)) ? a : b;
}
MATLAW_INLINE rows min_of(rows a, rows b)
{
  return ((a < b) | (a != a)) ? a : b;
}

// 0 for NaN, as torch.sign.
MATLAW_INLINE rows sign_of(rows x)
{
  return where(x > all(0), all(1), all(0)) - where(x < all(0), all(1), all(0));
}

MATLAW_INLINE rows abs_of(rows x)
{
  return (rows)((mask)x & ~(mask)(-(rows){}));
}

MATLAW_INLINE rows sqrt_of(rows x)
{
  rows y;
  for (int lane = 0; lane < MATLAW_LANES; ++lane)
#if defined(MATLAW_FLOAT32)
    y[lane] = __builtin_sqrtf(x[lane]);
#else
    y[lane] = __builtin_sqrt(x[lane]);
#endif
  return y;
}

#if defined(MATLAW_FLOAT32)
MATLAW_INLINE rows tanh_of(rows x)
{
  return MATLAW_VECTOR_FUNCTION(tanh, v)(x);
}
#else
MATLAW_INLINE rows log_of(rows x)
{
  return MATLAW_VECTOR_FUNCTION(log, v)(x);
}
#endif
MATLAW_INLINE rows sin_of(rows x)
{
  return MATLAW_VECTOR_FUNCTION(sin, v)(x);
}
MATLAW_INLINE rows cos_of(rows x)
{
  return MATLAW_VECTOR_FUNCTION(cos, v)(x);
}
MATLAW_INLINE rows pow_of(rows x, rows y)
{
  return MATLAW_VECTOR_FUNCTION(pow, vv)(x, y);
}

// GCC's builtins, as reading <immintrin.h> takes longer than compiling most kernels.
#if defined(__FMA__) && defined(MATLAW_FLOAT32)
MATLAW_INLINE rows add_product(rows c, rows a, rows b) { return __builtin_ia32_vfmaddps256(a, b, c); }
MATLAW_INLINE rows sub_product(rows c, rows a, rows b) { return __builtin_ia32_vfmaddps256(-a, b, c); }
#elif defined(__FMA__) && MATLAW_LANES == 8
MATLAW_INLINE rows add_product(rows c, rows a, rows b) { return __builtin_ia32_vfmaddpd512_mask(a, b, c, -1, 4); }
MATLAW_INLINE rows sub_product(rows c, rows a, rows b) { return __builtin_ia32_vfnmaddpd512_mask(a, b, c, -1, 4); }
#elif defined(__FMA__)
MATLAW_INLINE rows add_product(rows c, rows a, rows b) { return __builtin_ia32_vfmaddpd256(a, b, c); }
MATLAW_INLINE rows sub_product(rows c, rows a, rows b) { return __builtin_ia32_vfmaddpd256(-a, b, c); }
#else
MATLAW_INLINE rows add_product(rows c, rows a, rows b) { return c + a * b; }
MATLAW_INLINE rows sub_product(rows c, rows a, rows b) { return c - a * b; }
#endif

#include "matlaw_functions.h"

/// The constants that the loader reads before it calls the kernel.
#define MATLAW_EXPORT extern "C" __attribute__((visibility("default")))
MATLAW_EXPORT const int32_t matlaw_abi_version;
MATLAW_EXPORT const int32_t matlaw_lanes;
