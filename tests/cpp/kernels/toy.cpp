// The toy law's graphs (see toy_law.h), one per library: MATLAW_TOY_GRAPH names which.
#pragma GCC diagnostic ignored "-Wunused-function" // each library uses one graph
#include "matlaw/native/abi.h"

#ifndef MATLAW_TOY_REAL // for tools that read this file by itself
#define MATLAW_TOY_REAL double
#define MATLAW_TOY_GRAPH toy_seg0
#endif

using Real = MATLAW_TOY_REAL;

namespace
{
/// Slots with component-wise access.
struct Slots
{
  const void * const * in;
  void * const * out;
  std::int64_t ld, row;
  Real get(int slot, int component) const { return static_cast<const Real *>(in[slot])[component * ld + row]; }
  /// A parameter, or a weight in libraries that end with _weighted
  Real gain(int slot) const
  {
#ifdef MATLAW_TOY_WEIGHTED
    return static_cast<const Real *>(in[slot])[0];
#else
    return get(slot, 0);
#endif
  }
  void put(int slot, int component, Real value) const { static_cast<Real *>(out[slot])[component * ld + row] = value; }
};

/// A constant matrix without symmetry, so that a transposed block would show.
constexpr Real stiffness(int i, int j)
{
  return Real(i == j ? 2 : 0) + Real(i + 1) / Real(j + 5);
}

constexpr Real coupling = Real(0.25);

// strain -> trial
void toy_seg0(const Slots & s)
{
  for (int i = 0; i < 6; i++)
  {
    Real sum = 0;
    for (int j = 0; j < 6; j++)
      sum += stiffness(i, j) * s.get(0, j);
    s.put(0, i, sum);
  }
}

void toy_seg0_jvp(const Slots & s)
{
  toy_seg0(s);
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++)
      s.put(1, i * 6 + j, stiffness(i, j));
}

// The same with a gain: strain; gain -> trial = gain K strain
void toy_gain(const Slots & s)
{
  toy_seg0(s);
  for (int i = 0; i < 6; i++)
    s.put(0, i, s.gain(1) * static_cast<const Real *>(s.out[0])[i * s.ld + s.row]);
}

void toy_gain_jvp(const Slots & s)
{
  toy_gain(s);
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++)
      s.put(1, i * 6 + j, s.gain(1) * stiffness(i, j));
}

// d trial / d gain = K strain, and nothing else
void toy_gain_param_jvp(const Slots & s)
{
  toy_seg0(s);
}

// x, y; trial, s -> r = (y - x, x y - s - c sum(trial))
Real drive(const Slots & s)
{
  Real sum = 0;
  for (int i = 0; i < 6; i++)
    sum += s.get(2, i);
  return s.get(3, 0) + coupling * sum;
}

void toy_seg1_residual(const Slots & s)
{
  const Real x = s.get(0, 0), y = s.get(1, 0);
  s.put(0, 0, x - y);
  s.put(0, 1, drive(s) - x * y);
}

void toy_seg1_jacobian(const Slots & s)
{
  const Real x = s.get(0, 0), y = s.get(1, 0);
  s.put(0, 0, -1);
  s.put(0, 1, 1);
  s.put(0, 2, y);
  s.put(0, 3, x);
  s.put(1, 0, x - y);
  s.put(1, 1, drive(s) - x * y);
}

// columns: s, trial
void toy_seg1_jacobian_given(const Slots & s)
{
  for (int j = 0; j < 7; j++)
  {
    s.put(0, j, 0);
    s.put(0, 7 + j, j == 0 ? Real(-1) : -coupling);
  }
}

// trial, x; gain -> stress = gain (1 + x) trial
void toy_seg2(const Slots & s)
{
  for (int i = 0; i < 6; i++)
    s.put(0, i, s.gain(2) * (1 + s.get(1, 0)) * s.get(0, i));
}

// what a recompiled toy_seg2 might be
void toy_seg2_doubled(const Slots & s)
{
  for (int i = 0; i < 6; i++)
    s.put(0, i, 2 * s.get(2, 0) * (1 + s.get(1, 0)) * s.get(0, i));
}

// d stress / d gain
void toy_seg2_param_jvp(const Slots & s)
{
  for (int i = 0; i < 6; i++)
    s.put(0, i, (1 + s.get(1, 0)) * s.get(0, i));
}

// x, y; trial, s; gain -> r = (y - x, x y - gain s - c sum(trial))
void toy_scaled_residual(const Slots & s)
{
  const Real x = s.get(0, 0), y = s.get(1, 0);
  s.put(0, 0, x - y);
  s.put(0, 1, drive(s) + (s.gain(4) - 1) * s.get(3, 0) - x * y);
}

void toy_scaled_jacobian(const Slots & s)
{
  toy_seg1_jacobian(s);
  const Real x = s.get(0, 0), y = s.get(1, 0);
  s.put(1, 1, drive(s) + (s.gain(4) - 1) * s.get(3, 0) - x * y);
}

void toy_scaled_jacobian_given(const Slots & s)
{
  toy_seg1_jacobian_given(s);
  s.put(0, 7, -s.gain(4));
}

// A, and dr / d gain
void toy_scaled_dr_dparam(const Slots & s)
{
  const Real x = s.get(0, 0), y = s.get(1, 0);
  s.put(0, 0, -1);
  s.put(0, 1, 1);
  s.put(0, 2, y);
  s.put(0, 3, x);
  s.put(1, 0, 0);
  s.put(1, 1, -s.get(3, 0));
}

void toy_seg2_jvp(const Slots & s)
{
  toy_seg2(s);
  for (int i = 0; i < 6; i++)
  {
    for (int j = 0; j < 6; j++)
      s.put(1, i * 6 + j, i == j ? s.gain(2) * (1 + s.get(1, 0)) : Real(0));
    s.put(2, i, s.gain(2) * s.get(0, i));
  }
}
}

extern "C"
{
  extern const std::int32_t matlaw_abi_version;
  extern const std::int32_t matlaw_lanes;
  const std::int32_t matlaw_abi_version = matlaw::native::abi_version;
  const std::int32_t matlaw_lanes = 1;

  void matlaw_graph(const void * const * inputs, void * const * outputs, std::int64_t ld, std::int64_t rows)
  {
    for (std::int64_t row = 0; row < rows; row++)
      MATLAW_TOY_GRAPH({inputs, outputs, ld, row});
  }
}
