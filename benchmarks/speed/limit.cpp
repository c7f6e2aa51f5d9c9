// The limit: linear elasticity and J2 plasticity by radial return with linear (in closed form) or Voce hardening (one
// scalar equation), written by hand and vectorised by the compiler over blocks of rows. Arrays are (rows, components)
// as a host has them. speed.py compiles it with the numbers of a law.
#include <algorithm>
#include <cmath>
#include <cstdint>

namespace
{
constexpr std::int64_t block = 64;
constexpr double youngs = YOUNGS, poisson = POISSON;
constexpr double shear = youngs / (2 * (1 + poisson)), lame = youngs * poisson / ((1 + poisson) * (1 - 2 * poisson));

/// (rows, n) to (n, block)
void gather(const double * from, std::int64_t n, std::int64_t rows, double * to)
{
  for (std::int64_t i = 0; i < block; i++)
    for (std::int64_t c = 0; c < n; c++)
      to[c * block + i] = from[std::min(i, rows - 1) * n + c];
}

void scatter(const double * from, std::int64_t n, std::int64_t rows, double * to)
{
  for (std::int64_t i = 0; i < rows; i++)
    for (std::int64_t c = 0; c < n; c++)
      to[i * n + c] = from[c * block + i];
}
}

extern "C" void evaluate(const double * strain, const double * plastic_strain, const double * hardening_strain,
                         double * stress, double * tangent, std::int64_t rows)
{
  alignas(64) double e[6 * block], p[6 * block], k[block], s[6 * block], C[36 * block];
  for (std::int64_t first = 0; first < rows; first += block)
  {
    const auto n = std::min(block, rows - first);
    gather(strain + 6 * first, 6, n, e);
#ifdef PLASTIC
    gather(plastic_strain + 6 * first, 6, n, p);
    gather(hardening_strain + first, 1, n, k);
#endif
    for (std::int64_t i = 0; i < block; i++)
    {
      double t[6];
      for (int c = 0; c < 6; c++)
#ifdef PLASTIC
        t[c] = e[c * block + i] - p[c * block + i];
#else
        t[c] = e[c * block + i];
#endif
      const double trace = t[0] + t[1] + t[2];
      double factor = 1, along = 0, direction[6] = {};
      double d[6];
      for (int c = 0; c < 6; c++)
        d[c] = 2 * shear * (t[c] - (c < 3 ? trace / 3 : 0));
#ifdef PLASTIC
      double square = 0;
      for (int c = 0; c < 6; c++)
        square += d[c] * d[c];
      const double trial = std::sqrt(1.5 * square);
#ifdef MODULUS
      const double slope = 3 * shear + MODULUS;
      double x = (trial - YIELD - MODULUS * k[i]) / slope;
      x = x > 0 ? x : 0;
#else
      // trial - 3 G x - H(k + x) - yield = 0, a fixed number of Newton steps: no branch, all lanes alike
      double x = 0, slope = 0;
      for (int iteration = 0; iteration < ITERATIONS; iteration++)
      {
        const double decay = std::exp(-RATE * (k[i] + x));
        slope = 3 * shear + SATURATION * RATE * decay;
        x += (trial - 3 * shear * x - SATURATION * (1 - decay) - YIELD) / slope;
        x = x > 0 ? x : 0;
      }
#endif
      const double safe = trial > 0 ? trial : 1;
      factor = 1 - 3 * shear * x / safe;
      along = x > 0 ? 3 * shear / slope - 3 * shear * x / safe : 0;
      for (int c = 0; c < 6; c++)
        direction[c] = d[c] * std::sqrt(1.5) / safe;
#endif
      const double bulk = lame + 2 * shear / 3;
      for (int c = 0; c < 6; c++)
        s[c * block + i] = factor * d[c] + (c < 3 ? bulk * trace : 0);
      if (tangent)
        for (int c = 0; c < 6; c++)
          for (int j = 0; j < 6; j++)
          {
            const double unit = (c == j) - (c < 3 && j < 3 ? 1.0 / 3 : 0);
            C[(c * 6 + j) * block + i] = (c < 3 && j < 3 ? bulk : 0) + 2 * shear * factor * unit -
                                         2 * shear * along * direction[c] * direction[j];
          }
    }
    scatter(s, 6, n, stress + 6 * first);
    if (tangent)
      scatter(C, 36, n, tangent + 36 * first);
  }
}
