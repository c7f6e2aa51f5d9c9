#include "solve/Krylov.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "solve/row_vectors.h"

namespace matlaw::solve
{
template <typename Real>
void krylov_solve(LinearOperator<Real> & A, const Real * b, Real * x, std::int64_t ld, std::int64_t rows,
                  const KrylovConfig & config, const std::uint8_t * active, std::uint8_t * failed,
                  std::int32_t * iterations, KrylovWorkspace<Real> & w)
{
  const auto n = A.size();
  auto & state = w.rows;
  state.n = n;
  state.ld = ld;
  state.rows = rows;
  state.max_its = config.max_its;
  state.x = x;
  state.r = w.r.reserve(n * ld);
  state.running.assign(ld, 0);
  state.tolerance.assign(ld, 0.0);
  state.norm.assign(ld, 0.0);
  state.iterations.assign(ld, 0);
  w.initial.assign(ld, 0.0);
  w.without_gain.assign(ld, 0);
  std::copy_n(b, n * ld, state.r);
  norm(b, n, ld, w.initial.data());
  state.norm = w.initial;
  w.previous.assign(ld, std::numeric_limits<double>::infinity());
  std::int64_t left = 0;
  for (std::int64_t i = 0; i < rows; i++)
  {
    failed[i] = 0;
    if (!active[i])
      continue;
    state.running[i] = 1;
    left++;
    state.tolerance[i] = std::max(config.abs_tol, config.rel_tol * w.initial[i]);
  }
  std::fill_n(x, n * ld, Real(0));

  // A cycle of GMRES that gains nothing would be followed by others just like it; BiCGStab gets other vectors.
  const std::int32_t patience = config.method == KrylovMethod::GMRES ? 1 : 3;
  const double rounding = std::sqrt(double(std::numeric_limits<Real>::epsilon()));
  for (;;)
  {
    for (std::int64_t i = 0; i < rows; i++)
    {
      if (!state.running[i])
        continue;
      const auto residual = state.norm[i];
      w.without_gain[i] = residual < w.previous[i] ? 0 : w.without_gain[i] + 1;
      const bool solved = residual <= state.tolerance[i];
      const bool stuck = w.without_gain[i] >= patience;
      if (!solved && std::isfinite(residual) && !stuck && state.iterations[i] < config.max_its)
      {
        w.previous[i] = std::min(residual, w.previous[i]);
        continue;
      }
      failed[i] = !solved && !(stuck && residual <= rounding * w.initial[i]);
      state.running[i] = 0;
      left--;
    }
    if (left == 0)
      break;
    if (config.method == KrylovMethod::GMRES)
      gmres_cycle(A, state, config.restart, w.gmres);
    else
      bicgstab_pass(A, state, w.bicgstab);
    A.multiply(x, state.r, ld, rows);
    for (std::int64_t k = 0; k < n * ld; k++)
      state.r[k] = b[k] - state.r[k];
    norm(state.r, n, ld, state.norm.data());
  }
  std::copy_n(state.iterations.begin(), rows, iterations);
}

template void krylov_solve<double>(LinearOperator<double> &, const double *, double *, std::int64_t, std::int64_t,
                                   const KrylovConfig &, const std::uint8_t *, std::uint8_t *, std::int32_t *,
                                   KrylovWorkspace<double> &);
template void krylov_solve<float>(LinearOperator<float> &, const float *, float *, std::int64_t, std::int64_t,
                                  const KrylovConfig &, const std::uint8_t *, std::uint8_t *, std::int32_t *,
                                  KrylovWorkspace<float> &);
}
