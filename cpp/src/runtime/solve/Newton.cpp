#include "matlaw/solve/Newton.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "matlaw/native/abi.h"
#include "matlaw/solve/BatchedLU.h"
#include "support/AlignedBuffer.h"
#include "support/FloatingPointDefaults.h"

namespace matlaw::solve
{
namespace
{
std::int64_t whole_blocks(std::int64_t rows)
{
  return (rows + native::row_block - 1) / native::row_block * native::row_block;
}

/// Euclidean norm of each row of b, (n, ld), summed in double in the order of the components.
template <typename Real>
void norms(const Real * b, std::int64_t n, std::int64_t ld, std::int64_t rows, double * norm)
{
  std::fill(norm, norm + rows, 0.0);
  for (std::int64_t c = 0; c < n; c++)
    for (std::int64_t i = 0; i < rows; i++)
      norm[i] += double(b[c * ld + i]) * double(b[c * ld + i]);
  for (std::int64_t i = 0; i < rows; i++)
    norm[i] = std::sqrt(norm[i]);
}

/// Fills the padding of an array, columns [rows, ld), with copies of its last row.
template <typename Real>
void pad(Real * array, std::int64_t n, std::int64_t ld, std::int64_t rows)
{
  for (std::int64_t c = 0; c < n; c++)
    for (std::int64_t i = rows; i < ld; i++)
      array[c * ld + i] = array[c * ld + rows - 1];
}

/// Arrays of one solve. One per thread, so that a solve allocates nothing once its sizes have been seen.
template <typename Real>
struct Workspace
{
  support::AlignedBuffer<Real> u, u_next, b, A;
  std::vector<double> norm;
  std::vector<std::uint8_t> singular, active;
  std::vector<std::int32_t> rows, kept;
  bool in_use = false;
};
}

template <typename Real>
void newton(NonlinearSystem<Real> & system, Real * u, std::int64_t ld, std::int64_t rows, const NewtonConfig & config,
            RowVerdict * verdicts)
{
  if (rows == 0)
    return;
  const support::FloatingPointDefaults defaults;
  const auto n = system.size();
  thread_local Workspace<Real> shared;
  // A system may itself call a solve (an eager law inside a law): that one gets arrays of its own.
  Workspace<Real> own;
  Workspace<Real> & w = shared.in_use ? own : shared;
  struct Use
  {
    bool & flag;
    explicit Use(bool & in_use) : flag(in_use) { flag = true; }
    ~Use() { flag = false; }
  } const use(w.in_use);

  // Working set: position p of it is row w.rows[p] of the caller.
  auto size = rows;
  auto width = whole_blocks(size);
  Real * x = w.u.reserve(n * width);
  for (std::int64_t c = 0; c < n; c++)
    std::copy_n(u + c * ld, rows, x + c * width);
  pad(x, n, width, size);
  Real * b = w.b.reserve(n * width);
  Real * A = w.A.reserve(n * n * width);
  w.norm.resize(width);
  w.singular.resize(width);
  w.active.assign(size, 1);
  w.rows.resize(size);
  std::iota(w.rows.begin(), w.rows.end(), 0);
  auto left = size;

  const auto finish = [&](std::int64_t position, Status status)
  {
    const auto row = w.rows[position];
    verdicts[row].status = status;
    for (std::int64_t c = 0; c < n; c++)
      u[c * ld + row] = x[c * width + position];
    w.active[position] = 0;
    left--;
  };

  for (std::int64_t iteration = 0;; iteration++)
  {
    system.residual(x, b, width, size);
    norms(b, n, width, size, w.norm.data());
    for (std::int64_t p = 0; p < size; p++)
    {
      if (!w.active[p])
        continue;
      auto & verdict = verdicts[w.rows[p]];
      const auto norm = w.norm[p];
      if (iteration == 0)
        verdict.initial_residual = norm;
      verdict.final_residual = norm;
      verdict.iterations = std::int32_t(iteration);
      if (!std::isfinite(norm))
        finish(p, Status::NOT_CONVERGED);
      else if (norm < config.atol || norm < config.rtol * verdict.initial_residual)
        finish(p, Status::CONVERGED);
      else if (iteration >= config.miters)
        finish(p, Status::NOT_CONVERGED);
    }
    if (left == 0)
      return;

    // Rows that are done stay in the working set, ignored, until a whole block can be dropped.
    if (whole_blocks(left) < width)
    {
      w.kept.clear();
      for (std::int64_t p = 0; p < size; p++)
        if (w.active[p])
          w.kept.push_back(std::int32_t(p));
      const auto smaller = whole_blocks(left);
      Real * next = w.u_next.reserve(n * smaller);
      for (std::int64_t c = 0; c < n; c++)
        for (std::int64_t q = 0; q < left; q++)
          next[c * smaller + q] = x[c * width + w.kept[q]];
      pad(next, n, smaller, left);
      std::swap(w.u, w.u_next);
      x = w.u.data();
      for (std::int64_t q = 0; q < left; q++)
        w.rows[q] = w.rows[w.kept[q]];
      w.rows.resize(left);
      w.active.assign(left, 1);
      size = left;
      width = smaller;
      system.keep(w.kept);
    }

    system.jacobian(x, A, b, width, size);
    // The padding of what a system wrote is not defined: give the elimination numbers there.
    pad(A, n * n, width, size);
    pad(b, n, width, size);
    lu_solve(A, b, n, 1, width, width, w.singular.data());
    for (std::int64_t c = 0; c < n; c++)
      for (std::int64_t p = 0; p < size; p++)
        // A frozen row keeps its value; what happens to it here would be ignored anyway, but must not overflow.
        x[c * width + p] = w.active[p] && !w.singular[p] ? x[c * width + p] + b[c * width + p] : x[c * width + p];
    pad(x, n, width, size);
    for (std::int64_t p = 0; p < size; p++)
      if (w.active[p] && w.singular[p])
        finish(p, Status::NOT_CONVERGED);
    if (left == 0)
      return;
  }
}

template void newton<double>(NonlinearSystem<double> &, double *, std::int64_t, std::int64_t, const NewtonConfig &,
                             RowVerdict *);
template void newton<float>(NonlinearSystem<float> &, float *, std::int64_t, std::int64_t, const NewtonConfig &,
                            RowVerdict *);
}
