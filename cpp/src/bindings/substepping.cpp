// The substep driver for laws of which Python evaluates each substep.
#include <cstdint>
#include <tuple>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "../eager/python_solver_config.h"
#include "../eager/python_tensor.h"
#include "matlaw/solve/Substepping.h"
#include "modules.h"
#include "support/rows.h"

namespace py = pybind11;

namespace matlaw::bindings
{
namespace
{
using Ramp = std::tuple<std::int64_t, std::int64_t, std::int64_t>;
using Carry = std::tuple<std::int64_t, bool, std::int64_t, std::int64_t>;

/// A tensor (..., rows) of which an array holds `ld` columns.
template <typename Real>
at::Tensor unpadded(const Real * values, at::IntArrayRef shape, std::int64_t ld)
{
  auto whole = shape.vec();
  whole.back() = ld;
  const auto options = at::TensorOptions().dtype(c10::CppTypeToScalarType<Real>::value);
  return at::from_blob(const_cast<Real *>(values), whole, options)
      .narrow(-1, 0, shape.back())
      .clone(at::MemoryFormat::Contiguous);
}

/// Copies a tensor (..., rows) into an array of `ld` columns.
template <typename Real>
void store(const at::Tensor & tensor, at::IntArrayRef shape, Real * to, std::int64_t ld, const char * what)
{
  constexpr auto dtype = c10::CppTypeToScalarType<Real>::value;
  if (tensor.sizes() != shape || tensor.scalar_type() != dtype || !tensor.is_cpu())
    throw FatalError(std::string("substep: ") + what + " must be " + c10::toString(dtype) +
                     " on the CPU, of a shape that fits the inputs; got " + c10::toString(tensor.scalar_type()) +
                     " on " + tensor.device().str());
  auto whole = shape.vec();
  const auto rows = whole.back();
  whole.back() = ld;
  auto columns = at::from_blob(to, whole, tensor.options());
  columns.narrow(-1, 0, rows).copy_(tensor);
  if (rows > 0 && rows < ld)
    columns.narrow(-1, rows, ld - rows)
        .copy_(tensor.narrow(-1, rows - 1, 1).expand_as(columns.narrow(-1, rows, ld - rows)));
}

/// A law of which Python knows one step.
template <typename Real>
class PythonStep final : public solve::LawStep<Real>
{
public:
  PythonStep(py::object step, const solve::Increment & increment, std::int64_t columns)
      : _step(std::move(step)),
        _increment(increment),
        _columns(columns)
  {
  }

  void run(const std::vector<std::int32_t> & rows, std::int64_t ld, const Real * inputs, const Real * input_derivatives,
           Real * outputs, Real * output_derivatives, solve::RowVerdict * verdicts) override
  {
    const auto count = std::int64_t(rows.size());
    const py::gil_scoped_acquire gil;
    at::Tensor numbers = at::empty({count}, at::TensorOptions().dtype(at::kLong));
    std::copy(rows.begin(), rows.end(), numbers.mutable_data_ptr<std::int64_t>());
    const auto derivatives =
        _columns ? eager::to_python(unpadded(input_derivatives, {_increment.inputs, _columns, count}, ld))
                 : py::object(py::none());
    const py::object result = _step(eager::to_python(numbers),
                                    eager::to_python(unpadded(inputs, {_increment.inputs, count}, ld)), derivatives);
    const auto found = py::cast<py::tuple>(result);
    store(eager::to_tensor(found[0], "substep: outputs").detach(), {_increment.outputs, count}, outputs, ld, "outputs");
    const auto status = eager::to_tensor(found[1], "substep: status").to(at::kCPU, at::kChar).contiguous();
    const auto iterations = eager::to_tensor(found[2], "substep: iterations").to(at::kCPU, at::kInt).contiguous();
    for (std::int64_t p = 0; p < count; ++p)
      verdicts[p] = {static_cast<Status>(status.const_data_ptr<std::int8_t>()[p]),
                     iterations.const_data_ptr<std::int32_t>()[p], 0.0, 0.0};
    if (_columns)
      store(eager::to_tensor(found[3], "substep: derivatives").detach(), {_increment.outputs, _columns, count},
            output_derivatives, ld, "derivatives");
  }

private:
  py::object _step;
  const solve::Increment & _increment;
  std::int64_t _columns;
};

template <typename Real>
py::tuple take(const py::object & step, const solve::Increment & increment, const solve::NewtonConfig & config,
               const at::Tensor & inputs, const at::Tensor & derivatives)
{
  const auto rows = inputs.size(1), ld = support::whole_blocks(rows);
  const auto columns = derivatives.defined() ? derivatives.size(1) : 0;
  std::vector<Real> values(increment.inputs * ld), seeds(increment.inputs * columns * ld);
  std::vector<Real> outputs(increment.outputs * ld), found(increment.outputs * columns * ld);
  store(inputs, {increment.inputs, rows}, values.data(), ld, "inputs");
  if (columns)
    store(derivatives, {increment.inputs, columns, rows}, seeds.data(), ld, "derivatives");
  std::vector<solve::SubstepVerdict> verdicts(rows);
  PythonStep<Real> law(step, increment, columns);
  {
    const py::gil_scoped_release release;
    solve::substep<Real>(law, increment, config, ld, rows, values.data(), outputs.data(), columns, seeds.data(),
                         found.data(), verdicts.data());
  }
  const auto per_row = [&](at::ScalarType dtype, const auto & of)
  {
    const at::Tensor tensor = at::empty({rows}, at::TensorOptions().dtype(dtype));
    for (std::int64_t i = 0; i < rows; ++i)
      tensor.mutable_data_ptr<std::decay_t<decltype(of(verdicts[i]))>>()[i] = of(verdicts[i]);
    return eager::to_python(tensor);
  };
  return py::make_tuple(eager::to_python(unpadded(outputs.data(), {increment.outputs, rows}, ld)),
                        columns ? eager::to_python(unpadded(found.data(), {increment.outputs, columns, rows}, ld))
                                : py::object(py::none()),
                        per_row(at::kChar, [](const auto & verdict) { return std::int8_t(verdict.status); }),
                        per_row(at::kInt, [](const auto & verdict) { return verdict.iterations; }),
                        per_row(at::kInt, [](const auto & verdict) { return verdict.substeps; }),
                        per_row(at::kDouble, [](const auto & verdict) { return verdict.dt_factor; }));
}

py::tuple substep(const py::object & step, const py::object & inputs, const py::object & derivatives,
                  std::int64_t outputs, const std::vector<Ramp> & ramps, const std::vector<Carry> & carries,
                  const py::dict & config)
{
  const auto values = eager::to_tensor(inputs, "substep: inputs").detach();
  const auto seeds =
      derivatives.is_none() ? at::Tensor() : eager::to_tensor(derivatives, "substep: derivatives").detach();
  if (values.dim() != 2 || (seeds.defined() && seeds.dim() != 3))
    throw FatalError("substep: inputs must be (m, B) and derivatives (m, c, B)");
  solve::Increment increment;
  increment.inputs = values.size(0);
  increment.outputs = outputs;
  for (const auto & [current, old, size] : ramps)
    increment.ramps.push_back({current, old, size});
  for (const auto & [old, of_output, current, size] : carries)
    increment.carries.push_back({old, of_output, current, size});
  const auto settings = eager::with_changes({}, config);
  solve::check(settings);
  if (values.scalar_type() == at::kFloat)
    return take<float>(step, increment, settings, values, seeds);
  return take<double>(step, increment, settings, values, seeds);
}
}

void bind_substepping(py::module_ & module)
{
  module.def("substep", &substep, py::arg("step"), py::arg("inputs"), py::arg("derivatives"), py::arg("outputs"),
             py::arg("ramps"), py::arg("carries"), py::arg("config"),
             R"(Take an increment in substeps, every row on its own.

Variables stand one below the other: ``m`` components of all inputs, ``k`` of all outputs, ``c`` of all seeds.

:param step: ``step(rows, inputs, derivatives)`` evaluates the law over a substep of some rows: their numbers ``(b,)``
    int64, the inputs ``(m, b)`` and their derivatives ``(m, c, b)``; it returns ``(outputs, status, iterations,
    derivatives)``, ``(k, b)``, ``(b,)``, ``(b,)`` and ``(k, c, b)``
:param inputs: of the whole increment, ``(m, B)``, a CPU tensor, float64 or float32
:param derivatives: of the inputs by the seeds, ``(m, c, B)``, or ``None``
:param outputs: ``k``
:param ramps: ``(current, old, size)``: an input moves from its old to its new value; first components and how many
:param carries: ``(old, of_output, current, size)``: an old value takes what its variable, an output or else an input, was
    in the substep before
:param config: settings of the solver
:returns: ``(outputs, derivatives, status, iterations, substeps, dt_factor)``; outputs and derivatives of a row that failed
    mean nothing
)");
}
}
