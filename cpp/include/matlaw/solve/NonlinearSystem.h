// A batch of square nonlinear systems r(u) = 0, one per row: what the Newton solver drives.
#pragma once

#include <cstdint>
#include <vector>

#include "matlaw/errors.h"
#include "matlaw/solve/LinearStructure.h"

namespace matlaw::solve
{
/// Compiled graphs and eager models are two such systems.
///
/// Component c of row i of an array is at `array[c * ld + i]`. A system owns what does not change in a solve (its
/// givens) for a working set of rows; `rows` below is the size of that set. Arrays hold `ld` rows, ld being `rows`
/// rounded up to a multiple of native::row_block; what lies past `rows` is padding, copies of the last row.
template <typename Real>
class NonlinearSystem
{
public:
  virtual ~NonlinearSystem() = default;

  /// Number of unknowns of one row.
  virtual std::int64_t size() const = 0;

  /// Shrinks the working set to these positions of the current one (ascending).
  virtual void keep(const std::vector<std::int32_t> & positions) = 0;

  /// Makes the working set all rows again; false where a system cannot.
  virtual bool restart() { return false; }

  /// b = -r(u), (size, ld)
  virtual void residual(const Real * u, Real * b, std::int64_t ld, std::int64_t rows) = 0;

  /// A = dr/du, (size, size, ld), and b = -r(u), (size, ld). Of a direct linear solve
  virtual void jacobian(const Real * u, Real * A, Real * b, std::int64_t ld, std::int64_t rows) = 0;

  /// True where the system solves for Newton steps itself: step() then takes the place of jacobian() and a solve.
  virtual bool has_step() const { return false; }

  /// du with A du = b and b = -r(u), (size, ld) both. sound, (ld): 1 where du can be trusted; 0 where A has to be
  /// solved with pivoting
  virtual void step(const Real * u, Real * du, Real * b, Real * sound, std::int64_t ld, std::int64_t rows)
  {
    throw FatalError("This system has no Newton steps of its own.");
  }

  /// How A is taken apart by the linear solver.
  virtual const LinearStructure & structure() const
  {
    static const LinearStructure dense;
    return dense;
  }

  /// product = (dr/du) v, (size, ld) both. Of a Krylov solve
  virtual void multiply(const Real * u, const Real * v, Real * product, std::int64_t ld, std::int64_t rows)
  {
    throw FatalError("This system has no product of its Jacobian with a vector: its linear solver must be direct.");
  }

  /// M, (structure().preconditioner_size(), ld). Of a Krylov solve with a preconditioner
  virtual void preconditioner(const Real * u, Real * M, std::int64_t ld, std::int64_t rows)
  {
    throw FatalError("This system has no preconditioner.");
  }
};
}
