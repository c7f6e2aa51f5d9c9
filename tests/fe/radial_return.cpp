// Isotropic J2 laws as one writes them by hand: radial return and its consistent tangent, for plasticity with linear
// hardening, or with -DCREEP for creep at the rate c (stress / 1000)^4.
// Source: J. C. Simo, T. J. R. Hughes, Computational Inelasticity, Springer 1998, sections 3.3 and 3.7.
#include <cmath>

static const double E = 200000, nu = 0.3, G = E / 2 / (1 + nu), K = E / 3 / (1 - 2 * nu);

/// The increment of plastic strain that leads back from the trial stress `q`, and its derivative by `q`.
static double flow(double q, double plastic_strain, double dt, double & slope)
{
#ifdef CREEP
  const double c = std::pow(2.0 / 3, 2.5) * dt;
  double increment = 0;
  for (int i = 0; i < 60; i++)
  {
    const double x = (q - 3 * G * increment) / 1000, by_stress = c * 4 * x * x * x / 1000;
    slope = by_stress / (1 + 3 * G * by_stress);
    const double step = (c * x * x * x * x - increment) / (1 + 3 * G * by_stress);
    increment += step;
    if (std::abs(step) <= 1e-16 * increment)
      break;
  }
  return increment;
#else
  const double yield = 250, hardening = 2000, excess = q - yield - hardening * plastic_strain;
  slope = excess > 0 ? 1 / (3 * G + hardening) : 0;
  return excess * slope;
#endif
}

extern "C" void umat_(double * stress, double * statev, double * ddsdde, double *, double *, double *, double *,
                      double *, double *, double *, double * stran, double * dstran, double *, double * dt, double *,
                      double *, double *, double *, char *, int *, int *, int *, int *, double *, int *, double *,
                      double *, double *, double *, double *, double *, int *, int *, int *, int *, int *, int *)
{
  // Plastic strain (engineering shear) and its equivalent are the state.
  double elastic[6], trial[6], n[6] = {};
  for (int i = 0; i < 6; i++)
    elastic[i] = stran[i] + dstran[i] - statev[i];
  const double volume = elastic[0] + elastic[1] + elastic[2];
  double norm = 0;
  for (int i = 0; i < 6; i++)
  {
    trial[i] = i < 3 ? 2 * G * (elastic[i] - volume / 3) : G * elastic[i];
    norm += (i < 3 ? 1 : 2) * trial[i] * trial[i];
  }
  norm = std::sqrt(norm);
  const double q = std::sqrt(1.5) * norm;
  double slope = 0, theta = 1, theta_bar = 0;
  const double increment = q > 0 ? flow(q, statev[6], *dt, slope) : 0;
  if (increment > 0)
  {
    theta = 1 - 3 * G * increment / q;
    theta_bar = 3 * G * (slope - increment / q);
    for (int i = 0; i < 6; i++)
    {
      n[i] = trial[i] / norm;
      statev[i] += (i < 3 ? 1 : 2) * std::sqrt(1.5) * increment * n[i];
    }
    statev[6] += increment;
  }
  for (int i = 0; i < 6; i++)
  {
    stress[i] = theta * trial[i] + (i < 3 ? K * volume : 0);
    for (int j = 0; j < 6; j++)
    {
      const double unit = i == j ? (i < 3 ? 1 : 0.5) : 0, sphere = i < 3 && j < 3 ? 1 : 0;
      ddsdde[6 * i + j] = K * sphere + 2 * G * theta * (unit - sphere / 3) - 2 * G * theta_bar * n[i] * n[j];
    }
  }
}
