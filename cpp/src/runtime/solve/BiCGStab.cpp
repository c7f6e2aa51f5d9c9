#include "solve/BiCGStab.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "solve/row_vectors.h"

namespace matlaw::solve
{
template <typename Real>
void bicgstab_pass(LinearOperator<Real> & A, KrylovRows<Real> & rows, BiCGStabWorkspace<Real> & w)
{
  const auto n = rows.n, ld = rows.ld;
  Real * r = w.r.reserve(n * ld);
  Real * shadow = w.shadow.reserve(n * ld);
  Real * p = w.p.reserve(n * ld);
  Real * v = w.v.reserve(n * ld);
  Real * t = w.t.reserve(n * ld);
  Real * y = w.y.reserve(n * ld);
  std::copy_n(rows.r, n * ld, r);
  std::copy_n(rows.r, n * ld, shadow);
  std::fill_n(p, n * ld, Real(0));
  std::fill_n(v, n * ld, Real(0));
  w.rho.assign(ld, 1.0);
  w.alpha.assign(ld, 1.0);
  w.omega.assign(ld, 1.0);
  w.beta.assign(ld, 0.0);
  w.dots.assign(ld, 0.0);
  w.squares.assign(ld, 0.0);
  w.running = rows.running;
  // Two vectors are orthogonal when their product is only rounding.
  const double rounding = std::numeric_limits<Real>::epsilon() * std::numeric_limits<Real>::epsilon();

  // What a row that stops adds is zero, and its vectors stay what they are: numbers or not, nobody looks at them.
  const auto add_to_x = [&](const std::vector<double> & factor)
  {
    for (std::int64_t c = 0; c < n; c++)
      for (std::int64_t i = 0; i < ld; i++)
        if (w.running[i])
          rows.x[c * ld + i] = Real(double(rows.x[c * ld + i]) + factor[i] * double(y[c * ld + i]));
  };
  const auto any_running = [&] { return std::find(w.running.begin(), w.running.end(), 1) != w.running.end(); };

  while (any_running())
  {
    dot(shadow, r, n, ld, w.dots.data());
    dot(r, r, n, ld, w.squares.data());
    for (std::int64_t i = 0; i < ld; i++)
    {
      const double beta = w.dots[i] / w.rho[i] * (w.alpha[i] / w.omega[i]);
      if (w.running[i] && (!(std::abs(w.dots[i]) > rounding * w.squares[i]) || !std::isfinite(beta)))
        w.running[i] = 0;
      w.beta[i] = beta;
      w.rho[i] = w.dots[i];
    }
    for (std::int64_t c = 0; c < n; c++)
      for (std::int64_t i = 0; i < ld; i++)
        p[c * ld + i] =
            Real(double(r[c * ld + i]) + w.beta[i] * (double(p[c * ld + i]) - w.omega[i] * double(v[c * ld + i])));
    A.precondition(p, y, ld, rows.rows);
    A.multiply(y, v, ld, rows.rows);
    dot(shadow, v, n, ld, w.dots.data());
    for (std::int64_t i = 0; i < ld; i++)
    {
      w.alpha[i] = w.rho[i] / w.dots[i];
      if (w.running[i])
      {
        rows.iterations[i]++;
        w.running[i] = std::isfinite(w.alpha[i]);
      }
      w.beta[i] = -w.alpha[i];
    }
    add_to_x(w.alpha);
    add_scaled(r, w.beta.data(), v, n, ld); // s
    norm(r, n, ld, w.squares.data());
    for (std::int64_t i = 0; i < ld; i++)
      if (w.running[i] && !(w.squares[i] > rows.tolerance[i]))
        w.running[i] = 0;
    if (!any_running())
      break;
    A.precondition(r, y, ld, rows.rows);
    A.multiply(y, t, ld, rows.rows);
    dot(t, r, n, ld, w.dots.data());
    dot(t, t, n, ld, w.squares.data());
    for (std::int64_t i = 0; i < ld; i++)
    {
      w.omega[i] = w.dots[i] / w.squares[i];
      if (w.running[i] && (!std::isfinite(w.omega[i]) || w.omega[i] == 0.0))
        w.running[i] = 0;
      w.beta[i] = -w.omega[i];
    }
    add_to_x(w.omega);
    add_scaled(r, w.beta.data(), t, n, ld);
    norm(r, n, ld, w.squares.data());
    for (std::int64_t i = 0; i < ld; i++)
      if (w.running[i] && (!(w.squares[i] > rows.tolerance[i]) || rows.iterations[i] >= rows.max_its))
        w.running[i] = 0;
  }
}

template void bicgstab_pass<double>(LinearOperator<double> &, KrylovRows<double> &, BiCGStabWorkspace<double> &);
template void bicgstab_pass<float>(LinearOperator<float> &, KrylovRows<float> &, BiCGStabWorkspace<float> &);
}
