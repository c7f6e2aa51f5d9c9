// Elementary functions over vectors of rows that libmvec has too, but with up to 4 units in the last place: these stay
// below 2 (measured: 1.0 for exp, 1.3 for tanh, 1.6 for sinh, 1.4 for cosh, 0.9 for log in single precision).
//
// Polynomials are Chebyshev fits in 60 digits on the reduced interval. Special numbers give what <math.h> gives.
#pragma once

#if defined(MATLAW_FLOAT32)
typedef uint32_t bits __attribute__((vector_size(MATLAW_LANES * sizeof(real))));
#else
typedef uint64_t bits __attribute__((vector_size(MATLAW_LANES * sizeof(real))));
#endif

/// e^x is finite up to here at least
#if defined(MATLAW_FLOAT32)
#define MATLAW_HUGE_EXPONENT 88.0f
#else
#define MATLAW_HUGE_EXPONENT 709.0
#endif
#define MATLAW_HALF_E real(1.35914091422952261768)

/// c0 + c1 x + ... with `powers` x, x^2, x^4, x^8: halves that do not wait for each other.
template <int Count>
MATLAW_INLINE rows halves(const real * c, const rows * powers)
{
  if constexpr (Count == 1)
    return all(c[0]);
  else
  {
    constexpr int step = Count > 8 ? 3 : Count > 4 ? 2 : Count > 2 ? 1 : 0;
    constexpr int low = 1 << step;
    return halves<low>(c, powers) + powers[step] * halves<Count - low>(c + low, powers);
  }
}

/// c0 + c1 x + c2 x^2 + ...
template <typename... Reals>
MATLAW_INLINE rows polynomial(rows x, Reals... coefficients)
{
  static_assert(sizeof...(coefficients) <= 16);
  const real c[] = {coefficients...};
  const rows x2 = x * x, x4 = x2 * x2;
  const rows powers[] = {x, x2, x4, x4 * x4};
  return halves<int(sizeof...(coefficients))>(c, powers);
}

/// e^x: x = k ln 2 + r with |r| <= ln 2 / 2, e^r = 1 + (r + r^2 q(r)), and 2^k as two factors, so that results below
/// the smallest normal number are rounded once.
static __attribute__((noinline, unused)) rows exp_of(rows x)
{
#if defined(MATLAW_FLOAT32)
  const real largest = 89.0f, smallest = -104.0f, to_integer = 0x1.8p23f;
  const real inverse = 0x1.715476p0f, high = 0x1.62e4p-1f, low = 0x1.7f7d1cp-20f;
  const bits bias = (bits){} + 254u;
  const int mantissa = 23;
#else
  const real largest = 710.0, smallest = -746.0, to_integer = 0x1.8p52;
  const real inverse = 0x1.71547652b82fep0, high = 0x1.62e42feep-1, low = 0x1.a39ef35793c76p-33;
  const bits bias = (bits){} + 2046u;
  const int mantissa = 52;
#endif
  x = where(x > all(largest), all(largest), x);
  x = where(x < all(smallest), all(smallest), x);
  const rows shifted = x * all(inverse) + all(to_integer);
  const rows k = shifted - all(to_integer);
  const rows r = (x - k * all(high)) - k * all(low);
#if defined(MATLAW_FLOAT32)
  const rows q = polynomial(r, 0.5f, 0.16666576583158001898f, 0.04166655410934671658f, 0.0083632466697537282587f,
                            0.0013926268052570573462f);
#else
  const rows q =
      polynomial(r, 0.5, 0.1666666666666667104, 0.04166666666666666979, 0.0083333333333260697564,
                 0.0013888888888883701623, 0.00019841269875048905233, 0.000024801587325710758321,
                 2.7557255110978889315e-6, 2.755727343657048581e-7, 2.5105337244665210214e-8, 2.0914772832248089645e-9);
#endif
  const rows power = all(1) + (r + r * r * q);
  const bits exponent = (bits)shifted - (bits)all(to_integer) + bias;
  const bits first = exponent >> 1, second = exponent - first;
  return power * (rows)(first << mantissa) * (rows)(second << mantissa);
}

#if !defined(MATLAW_FLOAT32)
/// tanh x: below 0.625 an odd polynomial, above 1 - 2 / (e^(2 |x|) + 1).
static __attribute__((noinline, unused)) rows tanh_of(rows x)
{
  const rows a = abs_of(x), z = a * a;
  const rows p = polynomial(z, -0.33333333333333332938, 0.13333333333333041602, -0.05396825396789699169,
                            0.021869488519008305756, -0.008863235103240877925, 0.0035921217511549622695,
                            -0.0014557754120478055104, 0.0005896606577757043347, -0.00023759064960555619551,
                            0.000092571161295567682707, -0.000031201101425797400033, 6.48516348279311315e-6);
  const rows small = a + a * (z * p);
  const rows large = all(1) - all(2) / (exp_of(a + a) + all(1));
  const bits sign = (bits)x & (bits)(-(rows){});
  return (rows)((bits)where(a < all(0.625), small, large) | sign);
}
#else
/// log x: x = 2^e (1 + f) with 1 + f between sqrt(1/2) and sqrt(2), log(1 + f) = f - f^2 / 2 + f^3 p(f).
static __attribute__((noinline, unused)) rows log_of(rows x)
{
  const mask tiny = x < all(0x1p-126f);
  const mask scaled = (mask)where(tiny, x * all(0x1p25f), x);
  const mask root = (mask){} + 0x3f3504f3; // sqrt(1/2)
  const mask e = (scaled - root) >> 23;
  const rows f = (rows)(scaled - (e << 23)) - all(1);
  const rows n = __builtin_convertvector(e, rows) - where(tiny, all(25), all(0));
  const rows p = polynomial(f, 0.33333331180030048052f, -0.24999996957950882045f, 0.20000715748892101743f,
                            -0.16667802319501254074f, 0.14249057645697480404f, -0.12425687331451106113f,
                            0.11685419923486739308f, -0.11479733846637635556f, 0.069716114714511778317f);
  const rows square = f * f;
  const rows rest = n * all(0x1.7f7d1cp-20f) + (f * square * p - all(0.5f) * square);
  rows y = n * all(0x1.62e4p-1f) + (f + rest);
  y = where(x == all(__builtin_inff()), x, y);
  y = where(x == all(0), all(-__builtin_inff()), y);
  return where(x >= all(0), y, all(__builtin_nanf("")));
}
#endif

/// cosh x: (h + 1/h) / 2 with h = e^|x|; where h might overflow, e^(|x| - 1) e/2.
static __attribute__((noinline, unused)) rows cosh_of(rows x)
{
  const rows a = abs_of(x);
  const mask huge = a > all(MATLAW_HUGE_EXPONENT);
  const rows h = exp_of(where(huge, a - all(1), a));
  return where(huge, h * all(MATLAW_HALF_E), all(0.5) * h + all(0.5) / h);
}

/// sinh x: below 1 an odd polynomial (the series), above as cosh with a difference.
static __attribute__((noinline, unused)) rows sinh_of(rows x)
{
  const rows a = abs_of(x), z = a * a;
  const mask huge = a > all(MATLAW_HUGE_EXPONENT);
#if defined(MATLAW_FLOAT32)
  const rows p = polynomial(z, 0x1.555556p-3f, 0x1.111112p-7f, 0x1.a01a02p-13f, 0x1.71de3ap-19f, 0x1.ae6456p-26f);
#else
  const rows p = polynomial(z, 1.0 / 6, 1.0 / 120, 1.0 / 5040, 1.0 / 362880, 1.0 / 39916800, 1.0 / 6227020800,
                            1.0 / 1307674368000, 1.0 / 355687428096000, 1.0 / 121645100408832000);
#endif
  const rows small = a + a * (z * p);
  const rows h = exp_of(where(huge, a - all(1), a));
  const rows large = where(huge, h * all(MATLAW_HALF_E), all(0.5) * h - all(0.5) / h);
  const bits sign = (bits)x & (bits)(-(rows){});
  return (rows)((bits)where(a < all(1), small, large) | sign);
}

/// The base of a half power: without the sign of zero and of infinity, which pow ignores and sqrt does not.
MATLAW_INLINE rows half_base(rows x)
{
  return where(x == all(-(real)__builtin_inf()), all((real)__builtin_inf()), x + all(0));
}
