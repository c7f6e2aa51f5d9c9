// The Newton solver for systems whose residual and Jacobian are Python functions.
#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "../eager/linear_options.h"
#include "../eager/python_solver_config.h"
#include "../eager/python_tensor.h"
#include "matlaw/solve/Newton.h"
#include "matlaw/solve/step_factor.h"
#include "modules.h"
#include "solve/assembled_krylov.h"
#include "solve/direct_solve.h"
#include "support/rows.h"

namespace py = pybind11;

namespace matlaw::bindings
{
namespace
{
std::string shape_text(at::IntArrayRef shape)
{
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + ")";
}

/// Repeats the last row into the padding, so that no lane of a block ever works on leftovers.
template <typename Real>
void fill_padding(Real * values, std::int64_t components, std::int64_t ld, std::int64_t rows)
{
  for (std::int64_t c = 0; c < components; ++c)
    for (std::int64_t i = rows; i < ld; ++i)
      values[c * ld + i] = values[c * ld + rows - 1];
}

/// What Python knows of a system; the last two are None where the linear solver does not need them.
struct Functions
{
  py::object residual, jacobian, multiply, preconditioner;
};

/// A system made of Python functions.
template <typename Real>
class PythonSystem final : public solve::NonlinearSystem<Real>
{
public:
  PythonSystem(Functions functions, solve::LinearStructure structure, std::int64_t size, std::int64_t rows)
      : _functions(std::move(functions)),
        _structure(std::move(structure)),
        _size(size),
        _whole(at::arange(rows, at::TensorOptions().dtype(at::kLong))),
        _rows(_whole)
  {
  }

  std::int64_t size() const override { return _size; }

  void keep(const std::vector<std::int32_t> & positions) override
  {
    at::Tensor kept = at::empty({static_cast<std::int64_t>(positions.size())}, _rows.options());
    const auto * from = _rows.const_data_ptr<std::int64_t>();
    auto * to = kept.mutable_data_ptr<std::int64_t>();
    for (std::size_t i = 0; i < positions.size(); ++i)
      to[i] = from[positions[i]];
    _rows = kept;
  }

  bool restart() override
  {
    _rows = _whole;
    return true;
  }

  void residual(const Real * u, Real * b, std::int64_t ld, std::int64_t rows) override
  {
    const py::gil_scoped_acquire gil;
    const py::object result = call(_functions.residual, u, ld, rows);
    store(eager::to_tensor(result, "newton: the result of residual(u, rows)"), b, {_size, rows}, ld, "b = -r");
  }

  void jacobian(const Real * u, Real * A, Real * b, std::int64_t ld, std::int64_t rows) override
  {
    const py::gil_scoped_acquire gil;
    const py::object result = call(_functions.jacobian, u, ld, rows);
    if (!PyTuple_Check(result.ptr()) || PyTuple_GET_SIZE(result.ptr()) != 2)
      throw FatalError("newton: jacobian(u, rows) must return a tuple (A, b)");
    const auto pair = py::reinterpret_borrow<py::tuple>(result);
    store(eager::to_tensor(pair[0], "newton: A of jacobian(u, rows)"), A, {_size, _size, rows}, ld, "A = dr/du");
    store(eager::to_tensor(pair[1], "newton: b of jacobian(u, rows)"), b, {_size, rows}, ld, "b = -r");
  }

  const solve::LinearStructure & structure() const override { return _structure; }

  void multiply(const Real * u, const Real * v, Real * product, std::int64_t ld, std::int64_t rows) override
  {
    const py::gil_scoped_acquire gil;
    const py::object result = _functions.multiply(eager::to_python(copy_of(u, ld, rows)),
                                                  eager::to_python(copy_of(v, ld, rows)), eager::to_python(_rows));
    store(eager::to_tensor(result, "newton: the result of multiply(u, v, rows)"), product, {_size, rows}, ld, "A v");
  }

  void preconditioner(const Real * u, Real * M, std::int64_t ld, std::int64_t rows) override
  {
    const py::gil_scoped_acquire gil;
    const py::object result = call(_functions.preconditioner, u, ld, rows);
    store(eager::to_tensor(result, "newton: the result of preconditioner(u, rows)"), M,
          {_structure.preconditioner_size(), rows}, ld, "M");
  }

private:
  /// A copy: Python may keep what it is given, and the solver's buffers move on.
  at::Tensor copy_of(const Real * values, std::int64_t ld, std::int64_t rows) const
  {
    const auto options = at::TensorOptions().dtype(c10::CppTypeToScalarType<Real>::value);
    return at::from_blob(const_cast<Real *>(values), {_size, rows}, {ld, 1}, options)
        .clone(at::MemoryFormat::Contiguous);
  }

  py::object call(const py::object & function, const Real * u, std::int64_t ld, std::int64_t rows) const
  {
    return function(eager::to_python(copy_of(u, ld, rows)), eager::to_python(_rows));
  }

  void store(const at::Tensor & result, Real * to, std::vector<std::int64_t> shape, std::int64_t ld,
             const char * what) const
  {
    constexpr auto dtype = c10::CppTypeToScalarType<Real>::value;
    if (result.sizes() != at::IntArrayRef(shape) || result.scalar_type() != dtype || !result.is_cpu())
      throw FatalError(std::string("newton: expected ") + what + " of shape " + shape_text(shape) + ", " +
                       c10::toString(dtype) + " on cpu; got shape " + shape_text(result.sizes()) + ", " +
                       c10::toString(result.scalar_type()) + " on " + result.device().str());
    const at::Tensor values = result.detach().contiguous();
    const Real * from = values.template const_data_ptr<Real>();
    const std::int64_t rows = shape.back();
    const std::int64_t components = rows ? values.numel() / rows : 0;
    for (std::int64_t c = 0; c < components; ++c)
      std::memcpy(to + c * ld, from + c * rows, sizeof(Real) * static_cast<std::size_t>(rows));
    if (rows > 0)
      fill_padding(to, components, ld, rows);
  }

  Functions _functions;
  solve::LinearStructure _structure;
  std::int64_t _size;
  at::Tensor _whole, _rows;
};

template <typename Real>
py::tuple solve_rows(const Functions & functions, const solve::LinearStructure & structure, const at::Tensor & u0,
                     const solve::NewtonConfig & config, bool record, bool keep_iterates)
{
  const std::int64_t size = u0.size(0);
  const std::int64_t rows = u0.size(1);
  const std::int64_t ld = support::whole_blocks(rows);
  at::Tensor u = at::empty({size, ld}, u0.options().requires_grad(false));
  std::vector<solve::RowVerdict> verdicts(static_cast<std::size_t>(rows));
  at::Tensor norms, step, iterates;
  solve::Recorder<Real> recorder;
  if (record)
  {
    norms = at::empty({rows, config.miters + 1}, at::TensorOptions().dtype(at::kDouble));
    step = at::empty({rows, config.miters}, at::TensorOptions().dtype(at::kDouble));
    iterates = at::empty({rows, keep_iterates ? config.miters + 1 : 0, keep_iterates ? size : 0},
                         u0.options().requires_grad(false));
    recorder.miters = config.miters;
    recorder.size = size;
    recorder.residual = norms.mutable_data_ptr<double>();
    recorder.step = step.mutable_data_ptr<double>();
    recorder.iterates = keep_iterates ? iterates.mutable_data_ptr<Real>() : nullptr;
  }
  if (rows > 0)
  {
    Real * values = u.mutable_data_ptr<Real>();
    const Real * start = u0.const_data_ptr<Real>();
    for (std::int64_t c = 0; c < size; ++c)
      std::memcpy(values + c * ld, start + c * rows, sizeof(Real) * static_cast<std::size_t>(rows));
    fill_padding(values, size, ld, rows);
    PythonSystem<Real> system(functions, structure, size, rows);
    const py::gil_scoped_release release;
    solve::newton<Real>(system, values, ld, rows, config, verdicts.data(), record ? &recorder : nullptr);
  }
  at::Tensor status = at::empty({rows}, at::TensorOptions().dtype(at::kChar));
  at::Tensor iterations = at::empty({rows}, at::TensorOptions().dtype(at::kInt));
  at::Tensor reason = at::empty({rows}, at::TensorOptions().dtype(at::kChar));
  at::Tensor factor = at::empty({rows}, at::TensorOptions().dtype(at::kDouble));
  for (std::int64_t i = 0; i < rows; ++i)
  {
    status.mutable_data_ptr<std::int8_t>()[i] = static_cast<std::int8_t>(verdicts[i].status);
    iterations.mutable_data_ptr<std::int32_t>()[i] = verdicts[i].iterations;
    reason.mutable_data_ptr<std::int8_t>()[i] = static_cast<std::int8_t>(verdicts[i].reason);
    factor.mutable_data_ptr<double>()[i] = solve::step_factor(verdicts[i], config.miters);
  }
  const py::object solution = eager::to_python(u.narrow(1, 0, rows).contiguous());
  if (!record)
    return py::make_tuple(solution, eager::to_python(status), eager::to_python(iterations), eager::to_python(reason),
                          eager::to_python(factor));
  return py::make_tuple(solution, eager::to_python(status), eager::to_python(iterations), eager::to_python(reason),
                        eager::to_python(factor), eager::to_python(norms), eager::to_python(step),
                        eager::to_python(iterates));
}

py::tuple newton(const py::object & residual, const py::object & jacobian, const py::object & u0, double atol,
                 double rtol, std::int64_t miters, bool record, bool keep_iterates,
                 const eager::EliminationPairs & elimination, const py::object & multiply,
                 const py::object & preconditioner, const eager::DiagonalPairs & blocks, const py::kwargs & settings)
{
  const at::Tensor start = eager::to_tensor(u0, "newton: u0").detach();
  if (start.dim() != 2 || !start.is_cpu() || !start.is_contiguous())
    throw FatalError("newton: u0 must be a contiguous CPU tensor of shape (n, B), got shape " +
                     shape_text(start.sizes()) + " on " + start.device().str() +
                     (start.is_contiguous() ? "" : ", not contiguous"));
  const auto config = eager::with_changes({.atol = atol, .rtol = rtol, .miters = miters}, settings);
  if (config.krylov && multiply.is_none())
    throw FatalError("newton: a Krylov solver needs multiply(u, v, rows)");
  if (config.krylov && !blocks.empty() && preconditioner.is_none())
    throw FatalError("newton: a preconditioner needs preconditioner(u, rows)");
  const Functions functions{residual, jacobian, multiply, preconditioner};
  const auto structure = eager::linear_structure(elimination, blocks, start.size(0));
  solve::check(config);
  switch (start.scalar_type())
  {
  case at::kDouble:
    return solve_rows<double>(functions, structure, start, config, record, keep_iterates);
  case at::kFloat:
    return solve_rows<float>(functions, structure, start, config, record, keep_iterates);
  default:
    throw FatalError(std::string("newton: u0 must be float64 or float32, got ") + c10::toString(start.scalar_type()));
  }
}

template <typename Real>
py::tuple solve_systems(const at::Tensor & A, const at::Tensor & b, const solve::LinearStructure & structure,
                        const std::optional<solve::KrylovConfig> & krylov)
{
  const auto n = b.size(0), m = b.size(1), rows = b.size(2), ld = support::whole_blocks(rows);
  const auto spread = [&](const at::Tensor & from)
  {
    at::Tensor to = at::empty({from.numel() / std::max<std::int64_t>(rows, 1), ld}, from.options());
    to.narrow(1, 0, rows).copy_(from.reshape({-1, rows}));
    fill_padding(to.template mutable_data_ptr<Real>(), to.size(0), ld, rows);
    return to;
  };
  at::Tensor failed = at::zeros({rows}, at::TensorOptions().dtype(at::kBool));
  if (rows == 0 || m == 0)
    return py::make_tuple(eager::to_python(at::empty_like(b)), eager::to_python(failed));
  const at::Tensor matrix = spread(A);
  at::Tensor x = spread(b);
  std::vector<std::uint8_t> verdicts(static_cast<std::size_t>(ld));
  {
    const py::gil_scoped_release release;
    const auto * entries = matrix.template const_data_ptr<Real>();
    auto * values = x.template mutable_data_ptr<Real>();
    if (krylov)
      solve::assembled_krylov<Real>(structure.preconditioner, *krylov, entries, values, n, m, ld, ld, verdicts.data());
    else
      solve::direct_solve<Real>(structure.elimination, entries, values, n, m, ld, ld, verdicts.data());
  }
  for (std::int64_t i = 0; i < rows; ++i)
    failed.mutable_data_ptr<bool>()[i] = verdicts[static_cast<std::size_t>(i)] != 0;
  return py::make_tuple(eager::to_python(x.narrow(1, 0, rows).reshape({n, m, rows})), eager::to_python(failed));
}

py::tuple solve_linear(const py::object & matrix, const py::object & right, const eager::EliminationPairs & elimination,
                       const py::object & krylov, const eager::DiagonalPairs & blocks)
{
  const at::Tensor A = eager::to_tensor(matrix, "solve_linear: A").detach();
  const at::Tensor b = eager::to_tensor(right, "solve_linear: b").detach();
  if (A.dim() != 3 || b.dim() != 3 || A.size(0) != A.size(1) || b.size(0) != A.size(0) || b.size(2) != A.size(2) ||
      !A.is_cpu() || !b.is_cpu() || A.scalar_type() != b.scalar_type())
    throw FatalError("solve_linear: expected A (n, n, B) and b (n, m, B) of one dtype on cpu, got shapes " +
                     shape_text(A.sizes()) + " and " + shape_text(b.sizes()));
  std::optional<solve::KrylovConfig> config;
  if (!krylov.is_none())
    eager::update(config.emplace(), krylov);
  const auto structure = eager::linear_structure(elimination, blocks, A.size(0));
  switch (A.scalar_type())
  {
  case at::kDouble:
    return solve_systems<double>(A, b, structure, config);
  case at::kFloat:
    return solve_systems<float>(A, b, structure, config);
  default:
    throw FatalError(std::string("solve_linear: A must be float64 or float32, got ") + c10::toString(A.scalar_type()));
  }
}
}

void bind_newton(py::module_ & module)
{
  module.def(
      "changed_solver_config",
      [](const py::dict & config, const py::dict & changes)
      {
        const auto changed = eager::with_changes(eager::with_changes({}, config), changes);
        solve::check(changed);
        return eager::to_python(changed);
      },
      py::arg("config"), py::arg("changes"),
      R"(Solver settings with some changed.

:param config: all of them, as :attr:`matlaw.Model.solver_config` gives them; missing ones have their defaults
:param changes: those that become other
:raises FatalError: there is no such setting, or its value is of the wrong kind or out of range
)");

  module.def("newton", &newton, py::arg("residual"), py::arg("jacobian"), py::arg("u0"), py::arg("atol"),
             py::arg("rtol"), py::arg("miters"), py::arg("record") = false, py::arg("keep_iterates") = false,
             py::arg("elimination") = eager::EliminationPairs(), py::arg("multiply") = py::none(),
             py::arg("preconditioner") = py::none(), py::arg("preconditioner_blocks") = eager::DiagonalPairs(),
             R"(Solve r(u) = 0 for every row on its own; a converged row is frozen and leaves the working set.

:param residual: ``residual(u, rows)`` with ``u`` ``(n, b)`` and ``rows`` ``(b,)`` int64, the positions in the full
    batch of the rows still at work; returns ``b = -r``, ``(n, b)``
:param jacobian: ``jacobian(u, rows)`` returns ``(A, b)``: ``A = dr/du``, ``(n, n, b)``, and ``b = -r``, ``(n, b)``
:param u0: initial guess, ``(n, B)``, a contiguous CPU tensor, float64 or float32; left as it is
:param atol: a row converges when ``|r| < atol``
:param rtol: ... or when ``|r| < rtol |r0|``
:param miters: most iterations of a row
:param record: return what every iteration did as well
:param keep_iterates: of the record; it is large
:param elimination: ``(rows, columns)`` of blocks of ``A`` that a direct solve eliminates first; none for dense LU
:param multiply: ``multiply(u, v, rows)`` returns ``A v``, ``(n, b)``; needed with the setting ``krylov``
:param preconditioner: ``preconditioner(u, rows)`` returns the blocks of ``A`` that make up ``M``, one after the other,
    ``(entries, b)``; needed with ``preconditioner_blocks``
:param preconditioner_blocks: ``(offset, size)`` of these blocks on the diagonal; none without a preconditioner
:param settings: other entries of :attr:`matlaw.Model.solver_config`; those that are not given have their defaults
:returns: ``(u, status, iterations, reason, factor)``: ``(n, B)``, ``(B,)`` int8 with values of :class:`matlaw.Status`, ``(B,)``
    int32, ``(B,)`` int8 with values of :class:`matlaw.Reason`, ``(B,)`` float64, the suggested factor for the next time
    step (``matlaw/solve/step_factor.h``). With `record` besides ``(residual, step, iterates)``:
    norms ``(B, miters + 1)``, parts of the Newton steps taken ``(B, miters)``, and ``(B, miters + 1, n)``, empty
    without `keep_iterates`; NaN past a row's last
:raises FatalError: a tensor of the wrong shape, dtype or device; what the functions raise passes through
)");
  module.def("solve_linear", &solve_linear, py::arg("A"), py::arg("b"),
             py::arg("elimination") = eager::EliminationPairs(), py::arg("krylov") = py::none(),
             py::arg("preconditioner_blocks") = eager::DiagonalPairs(),
             R"(Solve A x = b for every row on its own.

:param A: ``(n, n, B)``, float64 or float32 on the CPU
:param b: ``(n, m, B)``, of the same dtype
:param elimination: as for ``newton``
:param krylov: settings of an iterative solver, as ``solver_config`` has them; None for a direct one
:param preconditioner_blocks: as for ``newton``; ``M`` is taken from ``A``
:returns: ``(x, failed)``: ``(n, m, B)``, and ``(B,)`` booleans: a singular matrix, or an iteration without success
:raises FatalError: a tensor of the wrong shape, dtype or device, settings out of range
)");
}
}
