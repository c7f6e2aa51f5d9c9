// Which components a host has, from NDI and NSHR, and the way from its arrays to Mandel components and back.
#pragma once

#include <array>
#include <cmath>

namespace matlaw::umat
{
/// Components of symmetric tensors: Mandel xx yy zz yz xz xy inside, xx yy zz xy xz yz on the host's side, of which the
/// first NDI and then the first NSHR are there. Strains of the host have engineering shear.
///
/// NDI = 3: what is not there has no strain (3-D, plane strain, axial symmetry). NDI < 3: it has no stress (plane
/// stress, uniaxial stress).
struct Hypothesis
{
  /// Number of components of the host, NTENS
  int size = 0;
  /// Mandel index of each of the host's components
  std::array<int, 6> components = {};
  /// The others, when their stress is zero: found by iteration. Empty when their strain is zero.
  int n_free = 0;
  std::array<int, 6> free = {};

  /// False where the library has no such hypothesis.
  static bool exists(int ndi, int nshr) { return ndi >= 1 && ndi <= 3 && nshr >= 0 && nshr <= (ndi == 1 ? 1 : 3); }

  Hypothesis(int ndi, int nshr)
  {
    constexpr int shear[3] = {5, 4, 3};
    bool there[6] = {};
    for (int i = 0; i < ndi; i++)
      there[components[size++] = i] = true;
    for (int i = 0; i < nshr; i++)
      there[components[size++] = shear[i]] = true;
    for (int c = 0; ndi < 3 && c < 6; c++)
      if (!there[c])
        free[n_free++] = c;
  }

  /// Mandel = factor * engineering strain, host's stress = factor * Mandel, for a component
  static double factor(int component) { return component < 3 ? 1.0 : M_SQRT1_2; }

  /// Mandel components of a strain; those that are not there become zero.
  void strain_from_host(const double * host, double * mandel) const
  {
    for (int c = 0; c < 6; c++)
      mandel[c] = 0.0;
    for (int i = 0; i < size; i++)
      mandel[components[i]] = host[i] * factor(components[i]);
  }
  /// The same of a stress.
  void stress_from_host(const double * host, double * mandel) const
  {
    for (int c = 0; c < 6; c++)
      mandel[c] = 0.0;
    for (int i = 0; i < size; i++)
      mandel[components[i]] = host[i] / factor(components[i]);
  }
  void stress_to_host(const double * mandel, double * host) const
  {
    for (int i = 0; i < size; i++)
      host[i] = mandel[components[i]] * factor(components[i]);
  }
};
}
