#include "solve/multiply.h"

#include <cstring>

#include "matlaw/native/abi.h"
#include "solve/simd.h"

namespace matlaw::solve
{
namespace
{
#define MATLAW_ARGUMENTS                                                                                               \
  MatrixView<Real> c, MatrixView<const Real> a, MatrixView<const Real> b, Real sign, std::int64_t p, std::int64_t q,   \
      std::int64_t r, std::int64_t ld, std::int64_t rows

template <typename Real, int Lanes>
MATLAW_INLINE void multiply_blocks(MATLAW_ARGUMENTS)
{
  using Value = typename Vectors<Real, Lanes>::Value;
  const auto load = [](const Real * from)
  {
    Value value;
    std::memcpy(&value, from, sizeof(Value));
    return value;
  };
  for (std::int64_t row = 0; row < rows; row += Lanes)
    for (std::int64_t i = 0; i < p; i++)
      for (std::int64_t j = 0; j < r; j++)
      {
        Value sum = {};
        for (std::int64_t k = 0; k < q; k++)
          sum += load(a.data + (i * a.stride + k) * ld + row) * load(b.data + (k * b.stride + j) * ld + row);
        Real * to = c.data + (i * c.stride + j) * ld + row;
        sum = load(to) + sign * sum;
        std::memcpy(to, &sum, sizeof(Value));
      }
}

template <typename Real>
void multiply_baseline(MATLAW_ARGUMENTS)
{
  multiply_blocks<Real, 16 / sizeof(Real)>(c, a, b, sign, p, q, r, ld, rows);
}

#if defined(__x86_64__)
template <typename Real>
MATLAW_TARGET_AVX2 void multiply_avx2(MATLAW_ARGUMENTS)
{
  multiply_blocks<Real, 32 / sizeof(Real)>(c, a, b, sign, p, q, r, ld, rows);
}

template <typename Real>
MATLAW_TARGET_AVX512 void multiply_avx512(MATLAW_ARGUMENTS)
{
  multiply_blocks<Real, native::row_block>(c, a, b, sign, p, q, r, ld, rows);
}
#else
template <typename Real>
constexpr auto multiply_avx2 = multiply_baseline<Real>;
template <typename Real>
constexpr auto multiply_avx512 = multiply_baseline<Real>;
#endif
}

template <typename Real>
void multiply_add(MATLAW_ARGUMENTS)
{
  static const auto multiply = for_this_cpu(&multiply_baseline<Real>, &multiply_avx2<Real>, &multiply_avx512<Real>);
  multiply(c, a, b, sign, p, q, r, ld, rows);
}

template <typename Real>
void add(MatrixView<Real> c, MatrixView<const Real> a, Real sign, std::int64_t p, std::int64_t r, std::int64_t ld,
         std::int64_t rows)
{
  for (std::int64_t i = 0; i < p; i++)
    for (std::int64_t j = 0; j < r; j++)
    {
      Real * to = c.data + (i * c.stride + j) * ld;
      const Real * from = a.data + (i * a.stride + j) * ld;
      for (std::int64_t row = 0; row < rows; row++)
        to[row] += sign * from[row];
    }
}

#define MATLAW_INSTANTIATE(Real)                                                                                       \
  template void multiply_add<Real>(MatrixView<Real>, MatrixView<const Real>, MatrixView<const Real>, Real,             \
                                   std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t);              \
  template void add<Real>(MatrixView<Real>, MatrixView<const Real>, Real, std::int64_t, std::int64_t, std::int64_t,    \
                          std::int64_t);
MATLAW_INSTANTIATE(double)
MATLAW_INSTANTIATE(float)
#undef MATLAW_INSTANTIATE
}
