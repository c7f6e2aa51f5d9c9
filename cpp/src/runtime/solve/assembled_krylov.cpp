#include "solve/assembled_krylov.h"

#include <algorithm>

#include "solve/BlockPreconditioner.h"
#include "solve/Krylov.h"
#include "solve/LinearOperator.h"
#include "solve/multiply.h"

namespace matlaw::solve
{
namespace
{
template <typename Real>
class Assembled final : public LinearOperator<Real>
{
public:
  Assembled(const Real * A, std::int64_t n, const BlockPreconditioner<Real> & preconditioner)
      : _A(A),
        _n(n),
        _preconditioner(preconditioner)
  {
  }

  std::int64_t size() const override { return _n; }

  void multiply(const Real * v, Real * product, std::int64_t ld, std::int64_t) override
  {
    std::fill_n(product, _n * ld, Real(0));
    multiply_add<Real>({product, 1}, {_A, _n}, {v, 1}, Real(1), _n, _n, 1, ld, ld);
  }

  void precondition(const Real * r, Real * z, std::int64_t ld, std::int64_t) override
  {
    _preconditioner.apply(r, z, _n, ld);
  }

private:
  const Real * _A;
  std::int64_t _n;
  const BlockPreconditioner<Real> & _preconditioner;
};

template <typename Real>
struct AssembledWorkspace
{
  BlockPreconditioner<Real> preconditioner;
  KrylovWorkspace<Real> krylov;
  support::AlignedBuffer<Real> column, x;
  std::vector<std::uint8_t> active, failed;
  std::vector<std::int32_t> iterations;
};
}

template <typename Real>
void assembled_krylov(const std::vector<DiagonalBlock> & preconditioner, const KrylovConfig & config, const Real * A,
                      Real * b, std::int64_t n, std::int64_t m, std::int64_t ld, std::int64_t rows,
                      std::uint8_t * failed)
{
  thread_local AssembledWorkspace<Real> w;
  std::fill_n(failed, rows, 0);
  if (rows == 0)
    return;
  w.preconditioner.reset(preconditioner, ld);
  Real * matrix = w.preconditioner.matrix(ld);
  for (const auto & [offset, k] : preconditioner)
    for (std::int64_t i = 0; i < k; i++)
      for (std::int64_t j = 0; j < k; j++, matrix += ld)
        std::copy_n(A + ((offset + i) * n + offset + j) * ld, ld, matrix);
  w.preconditioner.build(ld, ld);
  Assembled<Real> matrices(A, n, w.preconditioner);
  w.active.assign(rows, 1);
  w.failed.assign(rows, 0);
  w.iterations.assign(rows, 0);
  Real * column = w.column.reserve(n * ld);
  Real * x = w.x.reserve(n * ld);
  for (std::int64_t j = 0; j < m; j++)
  {
    for (std::int64_t i = 0; i < n; i++)
      std::copy_n(b + (i * m + j) * ld, ld, column + i * ld);
    krylov_solve<Real>(matrices, column, x, ld, rows, config, w.active.data(), w.failed.data(), w.iterations.data(),
                       w.krylov);
    for (std::int64_t i = 0; i < n; i++)
      std::copy_n(x + i * ld, ld, b + (i * m + j) * ld);
    for (std::int64_t i = 0; i < rows; i++)
      failed[i] |= w.failed[i];
  }
}

template void assembled_krylov<double>(const std::vector<DiagonalBlock> &, const KrylovConfig &, const double *,
                                       double *, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                                       std::uint8_t *);
template void assembled_krylov<float>(const std::vector<DiagonalBlock> &, const KrylovConfig &, const float *, float *,
                                      std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::uint8_t *);
}
