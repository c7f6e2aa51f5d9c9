// QuadratureBatch for Python: NumPy arrays that share memory with the batch.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "matlaw/Model.h"
#include "matlaw/host/QuadratureBatch.h"
#include "modules.h"

namespace py = pybind11;

namespace matlaw::bindings
{
namespace
{
using host::QuadratureBatch;
using Array = py::array_t<double, py::array::c_style | py::array::forcecast>;
using Shape = std::vector<std::int64_t>;

Shape batched(const QuadratureBatch & batch, Shape shape)
{
  shape.insert(shape.begin(), batch.n_points());
  return shape;
}

std::string text(const Shape & shape)
{
  return py::cast<std::string>(py::str(py::tuple(py::cast(shape))));
}

bool has_shape(const py::array & values, const Shape & shape)
{
  return std::equal(values.shape(), values.shape() + values.ndim(), shape.begin(), shape.end());
}

/// A read-only array over shared memory: the old state may be the same memory as an output.
py::array view(const std::shared_ptr<const double> & values, const Shape & shape)
{
  const py::capsule owner(new std::shared_ptr<const double>(values),
                          [](void * keep) { delete static_cast<std::shared_ptr<const double> *>(keep); });
  py::array result(py::dtype::of<double>(), shape, values.get(), owner);
  result.attr("flags").attr("writeable") = false;
  return result;
}

Array checked(const QuadratureBatch & batch, const std::string & name, const Array & values, bool constant_allowed)
{
  const Shape & shape = batch.shape(name);
  const Shape full = batched(batch, shape);
  const bool fits = has_shape(values, full) || (constant_allowed && has_shape(values, shape)) ||
                    // (n_points, size) for a value of any shape
                    (values.ndim() == 2 && values.shape(0) == batch.n_points() && values.shape(1) == batch.size(name));
  if (!fits)
    throw FatalError("QuadratureBatch: '" + name + "' takes an array of shape " + text(full) +
                     (constant_allowed ? ", or " + text(shape) + " for a constant" : "") + "; got " +
                     text(Shape(values.shape(), values.shape() + values.ndim())));
  return values;
}

std::span<const double> span(const Array & values)
{
  return {values.data(), static_cast<std::size_t>(values.size())};
}

void set_input(QuadratureBatch & batch, const std::string & name, const Array & values)
{
  checked(batch, name, values, true);
  if (has_shape(values, batch.shape(name)))
    batch.set_constant(name, span(values));
  else
    batch.set_input(name, span(values));
}

template <typename T>
py::array_t<T> copy(const std::vector<T> & values)
{
  return py::array_t<T>(static_cast<py::ssize_t>(values.size()), values.data());
}
}

void bind_quadrature_batch(py::module_ & module)
{
  py::class_<host::Verdict>(module, "Verdict", "What a call of QuadratureBatch.evaluate says.")
      .def_property_readonly("ok", &host::Verdict::ok, "True when every point converged")
      .def_readonly("failed_rows", &host::Verdict::failed_rows, "points that failed, ascending: list[int]")
      .def_property_readonly(
          "status", [](const host::Verdict & verdict) { return copy(verdict.status); },
          "(n_points,) int8, values of matlaw.Status")
      .def_property_readonly(
          "iterations", [](const host::Verdict & verdict) { return copy(verdict.iterations); },
          "(n_points,) int32, Newton iterations")
      .def_readonly("dt_factor", &host::Verdict::dt_factor,
                    "suggested factor for the next time step, the smallest over the points");

  py::class_<QuadratureBatch>(module, "QuadratureBatch")
      .def(py::init<std::shared_ptr<Model>, std::int64_t>(), py::arg("model"), py::arg("n_points"))
      .def_property_readonly("n_points", &QuadratureBatch::n_points)
      .def_property_readonly("input_names", &QuadratureBatch::input_names)
      .def_property_readonly("output_names", &QuadratureBatch::output_names)
      .def_property_readonly("state_names", &QuadratureBatch::state_names)
      .def_property_readonly("tangent_names", &QuadratureBatch::tangent_names)
      .def("shape", [](const QuadratureBatch & batch, const std::string & name)
           { return py::tuple(py::cast(batch.shape(name))); })
      .def("set_input", &set_input, py::arg("name"), py::arg("values"))
      // A copy of the verdict: the next evaluate overwrites the batch's own.
      .def(
          "evaluate",
          [](QuadratureBatch & batch, bool tangent) -> host::Verdict
          {
            const py::gil_scoped_release release;
            return batch.evaluate(tangent);
          },
          py::arg("tangent") = false)
      .def("output", [](const QuadratureBatch & batch, const std::string & name)
           { return view(batch.share_output(name), batched(batch, batch.shape(name))); })
      .def("tangent",
           [](const QuadratureBatch & batch, const std::string & out, const std::string & in)
           {
             const std::shared_ptr<const double> values = batch.share_tangent(out, in);
             Shape shape = batched(batch, batch.shape(out));
             const Shape & columns = batch.base_shape(in);
             shape.insert(shape.end(), columns.begin(), columns.end());
             return view(values, shape);
           })
      .def("state", [](const QuadratureBatch & batch, const std::string & name)
           { return view(batch.share_state(name), batched(batch, batch.shape(name))); })
      .def("set_state", [](QuadratureBatch & batch, const std::string & name, const Array & values)
           { batch.set_state(name, span(checked(batch, name, values, false))); })
      .def("commit", &QuadratureBatch::commit)
      .def("revert", &QuadratureBatch::revert)
      .def("save",
           [](const QuadratureBatch & batch)
           {
             const std::vector<std::byte> bytes = batch.save();
             return py::bytes(reinterpret_cast<const char *>(bytes.data()), bytes.size());
           })
      .def("restore",
           [](QuadratureBatch & batch, const py::bytes & bytes)
           {
             const std::string_view view = bytes;
             batch.restore({reinterpret_cast<const std::byte *>(view.data()), view.size()});
           })
      .def("resize", &QuadratureBatch::resize, py::arg("n_points"));
}
}
