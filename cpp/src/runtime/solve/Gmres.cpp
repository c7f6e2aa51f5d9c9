#include "solve/Gmres.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "solve/row_vectors.h"

namespace matlaw::solve
{
namespace
{
/// Rotates column j of row i's Hessenberg matrix into the triangle; says whether the row goes on with another column.
template <typename Real>
bool rotate(GmresWorkspace<Real> & w, KrylovRows<Real> & rows, std::int64_t j, std::int64_t m, std::int64_t i)
{
  const auto ld = rows.ld;
  const auto h = [&](std::int64_t k) -> double & { return w.H[(j * (m + 1) + k) * ld + i]; };
  rows.iterations[i]++;
  for (std::int64_t k = 0; k < j; k++)
  {
    const double c = w.cosine[k * ld + i], s = w.sine[k * ld + i];
    const double upper = c * h(k) + s * h(k + 1);
    h(k + 1) = -s * h(k) + c * h(k + 1);
    h(k) = upper;
  }
  // What is left of A v is rounding: the basis spans all that A makes of it.
  const double rounding = 10.0 * std::numeric_limits<Real>::epsilon() * w.before[i];
  const double below = h(j + 1) <= rounding ? 0.0 : h(j + 1);
  const double diagonal = std::sqrt(h(j) * h(j) + below * below);
  if (!(diagonal > rounding) || !std::isfinite(diagonal))
    return false; // a singular matrix, or not numbers: this column is of no use
  w.columns[i] = j + 1;
  w.cosine[j * ld + i] = h(j) / diagonal;
  w.sine[j * ld + i] = below / diagonal;
  h(j) = diagonal;
  const double g = w.g[j * ld + i];
  w.g[j * ld + i] = w.cosine[j * ld + i] * g;
  w.g[(j + 1) * ld + i] = -w.sine[j * ld + i] * g;
  return below != 0.0 && std::abs(w.g[(j + 1) * ld + i]) > rows.tolerance[i] && rows.iterations[i] < rows.max_its;
}
}

template <typename Real>
void gmres_cycle(LinearOperator<Real> & A, KrylovRows<Real> & rows, std::int64_t restart, GmresWorkspace<Real> & w)
{
  const auto n = rows.n, ld = rows.ld;
  const auto m = std::min(restart, n);
  Real * V = w.basis.reserve((m + 1) * n * ld);
  Real * z = w.z.reserve(n * ld);
  Real * Av = w.w.reserve(n * ld);
  w.H.assign(m * (m + 1) * ld, 0.0);
  w.cosine.assign(m * ld, 0.0);
  w.sine.assign(m * ld, 0.0);
  w.g.assign((m + 1) * ld, 0.0);
  w.y.assign(m * ld, 0.0);
  w.scalar.assign(ld, 0.0);
  w.before.assign(ld, 0.0);
  w.columns.assign(ld, 0);
  w.running = rows.running;

  for (std::int64_t i = 0; i < ld; i++)
  {
    w.scalar[i] = w.running[i] ? 1.0 / rows.norm[i] : 0.0;
    w.g[i] = rows.norm[i];
  }
  scale(V, w.scalar.data(), rows.r, n, ld);
  std::int64_t built = 0;
  for (bool any = true; any && built < m; built++)
  {
    const auto j = built;
    A.precondition(V + j * n * ld, z, ld, rows.rows);
    A.multiply(z, Av, ld, rows.rows);
    norm(Av, n, ld, w.before.data());
    for (std::int64_t k = 0; k <= j; k++)
    {
      double * h = w.H.data() + (j * (m + 1) + k) * ld;
      dot(Av, V + k * n * ld, n, ld, h);
      for (std::int64_t i = 0; i < ld; i++)
        w.scalar[i] = -h[i];
      add_scaled(Av, w.scalar.data(), V + k * n * ld, n, ld);
    }
    double * last = w.H.data() + (j * (m + 1) + j + 1) * ld;
    norm(Av, n, ld, last);
    for (std::int64_t i = 0; i < ld; i++)
      w.scalar[i] = w.running[i] && last[i] > 0.0 ? 1.0 / last[i] : 0.0;
    any = false;
    for (std::int64_t i = 0; i < ld; i++)
    {
      if (w.running[i])
        w.running[i] = rotate(w, rows, j, m, i);
      any |= w.running[i] != 0;
      if (!w.running[i])
        w.scalar[i] = 0.0; // zero columns from here on
    }
    scale(V + (j + 1) * n * ld, w.scalar.data(), Av, n, ld);
  }

  for (std::int64_t i = 0; i < ld; i++)
    for (std::int64_t k = w.columns[i] - 1; k >= 0; k--)
    {
      double sum = w.g[k * ld + i];
      for (std::int64_t l = k + 1; l < w.columns[i]; l++)
        sum -= w.H[(l * (m + 1) + k) * ld + i] * w.y[l * ld + i];
      w.y[k * ld + i] = sum / w.H[(k * (m + 1) + k) * ld + i];
    }
  std::fill_n(Av, n * ld, Real(0));
  for (std::int64_t k = 0; k < built; k++)
    add_scaled(Av, w.y.data() + k * ld, V + k * n * ld, n, ld);
  A.precondition(Av, z, ld, rows.rows);
  add_where(rows.running.data(), rows.x, z, n, ld);
}

template void gmres_cycle<double>(LinearOperator<double> &, KrylovRows<double> &, std::int64_t,
                                  GmresWorkspace<double> &);
template void gmres_cycle<float>(LinearOperator<float> &, KrylovRows<float> &, std::int64_t, GmresWorkspace<float> &);
}
