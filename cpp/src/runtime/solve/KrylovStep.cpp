#include "solve/KrylovStep.h"

#include <algorithm>

#include "solve/LinearOperator.h"

namespace matlaw::solve
{
namespace
{
/// The Jacobian of a system at one u.
template <typename Real>
class JacobianAt final : public LinearOperator<Real>
{
public:
  JacobianAt(NonlinearSystem<Real> & system, const Real * u, const BlockPreconditioner<Real> * preconditioner)
      : _system(system),
        _u(u),
        _preconditioner(preconditioner)
  {
  }

  std::int64_t size() const override { return _system.size(); }

  void multiply(const Real * v, Real * product, std::int64_t ld, std::int64_t rows) override
  {
    _system.multiply(_u, v, product, ld, rows);
    // What a system writes past the rows is not defined: give the recurrences numbers there.
    for (std::int64_t c = 0; c < size(); c++)
      std::fill(product + c * ld + rows, product + (c + 1) * ld, product[c * ld + rows - 1]);
  }

  void precondition(const Real * r, Real * z, std::int64_t ld, std::int64_t rows) override
  {
    if (_preconditioner)
      _preconditioner->apply(r, z, size(), ld);
    else
      LinearOperator<Real>::precondition(r, z, ld, rows);
  }

private:
  NonlinearSystem<Real> & _system;
  const Real * _u;
  const BlockPreconditioner<Real> * _preconditioner;
};
}

template <typename Real>
void KrylovStep<Real>::reset(NonlinearSystem<Real> & system, const KrylovConfig & config, std::int64_t rows)
{
  _system = &system;
  _config = &config;
  _preconditioner.reset(system.structure().preconditioner, rows);
}

template <typename Real>
void KrylovStep<Real>::keep(const std::vector<std::int32_t> & positions)
{
  _preconditioner.keep(positions);
}

template <typename Real>
void KrylovStep<Real>::solve(const Real * u, Real * b, std::int64_t ld, std::int64_t rows, const std::uint8_t * active,
                             std::uint8_t * failed)
{
  const auto n = _system->size();
  const bool preconditioned = !_system->structure().preconditioner.empty();
  auto & stale = _preconditioner.stale();
  if (_config->cache_strategy == PreconditionerCache::NONE)
    std::fill(stale.begin(), stale.end(), 1);
  if (preconditioned && _preconditioner.any_stale())
  {
    _system->preconditioner(u, _preconditioner.matrix(ld), ld, rows);
    _preconditioner.build(ld, rows);
  }
  JacobianAt<Real> A(*_system, u, preconditioned ? &_preconditioner : nullptr);
  Real * x = _x.reserve(n * ld);
  _iterations.assign(rows, 0);
  krylov_solve(A, b, x, ld, rows, *_config, active, failed, _iterations.data(), _workspace);
  std::copy_n(x, n * ld, b);
  if (_config->cache_strategy == PreconditionerCache::MAX_ITS)
    for (std::int64_t i = 0; i < rows; i++)
      stale[i] = active[i] && _iterations[i] > _config->cache_max_its;
}

template class KrylovStep<double>;
template class KrylovStep<float>;
}
