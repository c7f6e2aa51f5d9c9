// Rows in the memory of a caller, as vectors of rows: read and written wherever they stand, without a copy in between.
#pragma once

#include "matlaw_simd.h"

/// Component c of row i stands at data[i * row + c * component], as in <matlaw/native/abi.h>.
struct place
{
  void * data;
  int64_t row, component;
};

typedef rows rows_anywhere __attribute__((aligned(sizeof(real))));

// Squares of four rows and four components are turned around in registers.
typedef real four __attribute__((vector_size(4 * sizeof(real)), may_alias));
typedef four four_anywhere __attribute__((aligned(sizeof(real))));
typedef real two __attribute__((vector_size(2 * sizeof(real)), may_alias));
typedef two two_anywhere __attribute__((aligned(sizeof(real))));
typedef mask_bits four_numbers __attribute__((vector_size(4 * sizeof(real))));

MATLAW_INLINE four even_of(four a, four b)
{
  return __builtin_shuffle(a, b, (four_numbers){0, 4, 2, 6});
}
MATLAW_INLINE four odd_of(four a, four b)
{
  return __builtin_shuffle(a, b, (four_numbers){1, 5, 3, 7});
}
MATLAW_INLINE four front_of(four a, four b)
{
  return __builtin_shuffle(a, b, (four_numbers){0, 1, 4, 5});
}
MATLAW_INLINE four back_of(four a, four b)
{
  return __builtin_shuffle(a, b, (four_numbers){2, 3, 6, 7});
}

/// Four rows of n components, `step` apart: component c of all of them to x[c], `distance` vectors of four apart.
template <int n>
MATLAW_INLINE void read_four(const real * p, int64_t step, four * x, int distance)
{
#pragma GCC unroll 16
  for (int c = 0; c + 4 <= n; c += 4)
  {
    const four r0 = *(const four_anywhere *)(p + c), r1 = *(const four_anywhere *)(p + step + c);
    const four r2 = *(const four_anywhere *)(p + 2 * step + c), r3 = *(const four_anywhere *)(p + 3 * step + c);
    const four even01 = even_of(r0, r1), odd01 = odd_of(r0, r1), even23 = even_of(r2, r3), odd23 = odd_of(r2, r3);
    x[c * distance] = front_of(even01, even23);
    x[(c + 1) * distance] = front_of(odd01, odd23);
    x[(c + 2) * distance] = back_of(even01, even23);
    x[(c + 3) * distance] = back_of(odd01, odd23);
  }
  constexpr int c = n - n % 4;
  if constexpr (n % 4 >= 2)
  {
    const two r0 = *(const two_anywhere *)(p + c), r1 = *(const two_anywhere *)(p + step + c);
    const two r2 = *(const two_anywhere *)(p + 2 * step + c), r3 = *(const two_anywhere *)(p + 3 * step + c);
    const four r02 = {r0[0], r0[1], r2[0], r2[1]}, r13 = {r1[0], r1[1], r3[0], r3[1]};
    x[c * distance] = even_of(r02, r13);
    x[(c + 1) * distance] = odd_of(r02, r13);
  }
  if constexpr (n % 2)
    x[(n - 1) * distance] = (four){p[n - 1], p[step + n - 1], p[2 * step + n - 1], p[3 * step + n - 1]};
}

/// The way back.
template <int n>
MATLAW_INLINE void write_four(real * p, int64_t step, const four * x, int distance)
{
#pragma GCC unroll 16
  for (int c = 0; c + 4 <= n; c += 4)
  {
    const four x0 = x[c * distance], x1 = x[(c + 1) * distance];
    const four x2 = x[(c + 2) * distance], x3 = x[(c + 3) * distance];
    const four even01 = even_of(x0, x1), odd01 = odd_of(x0, x1), even23 = even_of(x2, x3), odd23 = odd_of(x2, x3);
    *(four_anywhere *)(p + c) = front_of(even01, even23);
    *(four_anywhere *)(p + step + c) = front_of(odd01, odd23);
    *(four_anywhere *)(p + 2 * step + c) = back_of(even01, even23);
    *(four_anywhere *)(p + 3 * step + c) = back_of(odd01, odd23);
  }
  constexpr int c = n - n % 4;
  if constexpr (n % 4 >= 2)
  {
    const four r02 = even_of(x[c * distance], x[(c + 1) * distance]);
    const four r13 = odd_of(x[c * distance], x[(c + 1) * distance]);
    *(two_anywhere *)(p + c) = (two){r02[0], r02[1]};
    *(two_anywhere *)(p + step + c) = (two){r13[0], r13[1]};
    *(two_anywhere *)(p + 2 * step + c) = (two){r02[2], r02[3]};
    *(two_anywhere *)(p + 3 * step + c) = (two){r13[2], r13[3]};
  }
  if constexpr (n % 2)
    for (int k = 0; k < 4; ++k)
      p[k * step + n - 1] = x[(n - 1) * distance][k];
}

/// Adds nothing to `check` as long as all is finite and a sum of it, too; NaN otherwise.
template <int n>
MATLAW_INLINE void add_check(const rows * x, rows & check)
{
  rows sums[2] = {x[0], n > 1 ? x[n > 1] : all(0.0)}; // two chains of additions
#pragma GCC unroll 64
  for (int c = 2; c < n; ++c)
    sums[c % 2] = sums[c % 2] + x[c];
  check = check + (sums[0] + sums[1]) * all(0.0);
}

MATLAW_INLINE bool is_sound(rows check)
{
  return !any_of(check != all(0.0));
}

/// Component c of a vector of rows from row i on to x[c].
template <int n>
MATLAW_INLINE void read_rows(const place & from, int64_t i, rows * x, rows & check)
{
  const real * const p = (const real *)from.data + i * from.row;
  if (from.row == 1)
#pragma GCC unroll 64
    for (int c = 0; c < n; ++c)
      x[c] = *(const rows_anywhere *)(p + c * from.component);
#if MATLAW_LANES >= 4
  else if (n > 1 && from.component == 1)
#pragma GCC unroll 2
    for (int k = 0; k < MATLAW_LANES / 4; ++k)
      read_four<n>(p + 4 * k * from.row, from.row, (four *)x + k, MATLAW_LANES / 4);
#endif
  else
    for (int c = 0; c < n; ++c)
#pragma GCC unroll 8
      for (int k = 0; k < MATLAW_LANES; ++k)
        x[c][k] = p[k * from.row + c * from.component];
  add_check<n>(x, check);
}

/// The way back.
template <int n>
MATLAW_INLINE void write_rows(const place & to, int64_t i, const rows * x, rows & check)
{
  real * const p = (real *)to.data + i * to.row;
  if (to.row == 1)
#pragma GCC unroll 64
    for (int c = 0; c < n; ++c)
      *(rows_anywhere *)(p + c * to.component) = x[c];
#if MATLAW_LANES >= 4
  else if (n > 1 && to.component == 1)
#pragma GCC unroll 2
    for (int k = 0; k < MATLAW_LANES / 4; ++k)
      write_four<n>(p + 4 * k * to.row, to.row, (const four *)x + k, MATLAW_LANES / 4);
#endif
  else
    for (int c = 0; c < n; ++c)
#pragma GCC unroll 8
      for (int k = 0; k < MATLAW_LANES; ++k)
        p[k * to.row + c * to.component] = x[c][k];
  add_check<n>(x, check);
}

// What statements read and write, once the rows are in registers.
MATLAW_INLINE rows load(const rows * component, int64_t)
{
  return *component;
}
MATLAW_INLINE void store(rows * component, int64_t, rows x)
{
  *component = x;
}
