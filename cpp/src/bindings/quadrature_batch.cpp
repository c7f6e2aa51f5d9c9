// QuadratureBatch for Python: NumPy arrays that share memory with the batch.
#include <memory>
#include <string>
#include <utility>

#include "arrays.h"
#include "matlaw/Model.h"
#include "matlaw/host/QuadratureBatch.h"
#include "modules.h"

namespace matlaw::bindings
{
namespace
{
using host::QuadratureBatch;

Shape batched(const QuadratureBatch & batch, Shape shape)
{
  shape.insert(shape.begin(), batch.n_points());
  return shape;
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
                     text(shape_of(values)));
  return values;
}

void set_input(QuadratureBatch & batch, const std::string & name, const Array & values)
{
  checked(batch, name, values, true);
  if (has_shape(values, batch.shape(name)))
    batch.set_constant(name, span(values));
  else
    batch.set_input(name, span(values));
}

/// Checks values for some points, (points, *shape).
Span<const double> some(const QuadratureBatch & batch, const std::string & name, const Points & points,
                        const Array & values)
{
  Shape shape = batch.shape(name);
  shape.insert(shape.begin(), points.size());
  const bool flat = values.ndim() == 2 && values.shape(0) == points.size() && values.shape(1) == batch.size(name);
  if (!has_shape(values, shape) && !flat)
    throw FatalError("QuadratureBatch: '" + name + "' at " + std::to_string(points.size()) +
                     " points takes an array of shape " + text(shape) + "; got " + text(shape_of(values)));
  return span(values);
}
}

void bind_quadrature_batch(py::module_ & module)
{
  py::class_<host::Verdict>(module, "Verdict", "What a call of QuadratureBatch.evaluate says.")
      .def_property_readonly("ok", &host::Verdict::ok, "True when every point converged")
      .def_readonly("failed_rows", &host::Verdict::failed_rows, "points that failed, ascending: list[int]")
      .def_property_readonly(
          "status", [](const host::Verdict & verdict) { return copy(verdict.status); },
          "(points,) int8, values of matlaw.Status, one per point evaluated")
      .def_property_readonly(
          "iterations", [](const host::Verdict & verdict) { return copy(verdict.iterations); },
          "(points,) int32, Newton iterations, one per point evaluated")
      .def_property_readonly(
          "substeps", [](const host::Verdict & verdict) { return copy(verdict.substeps); },
          "(n_points,) int32, substeps; empty for a law that does not tell")
      .def_readonly("dt_factor", &host::Verdict::dt_factor,
                    "suggested factor for the next time step, the smallest over the points")
      .def_readonly("weights_version", &host::Verdict::weights_version,
                    "of the weights that all of these points were evaluated with");

  py::class_<QuadratureBatch>(module, "QuadratureBatch")
      .def(py::init(
               [](std::shared_ptr<Model> model, std::int64_t n_points, const std::string & hypothesis,
                  const std::string & strain, const std::string & stress, double tolerance, int max_iterations)
               {
                 return std::make_unique<QuadratureBatch>(std::move(model), n_points,
                                                          host::Kinematics{host::hypothesis_from_text(hypothesis),
                                                                           strain, stress, tolerance, max_iterations});
               }),
           py::arg("model"), py::arg("n_points"), py::arg("hypothesis"), py::arg("strain"), py::arg("stress"),
           py::arg("tolerance"), py::arg("max_iterations"))
      .def_property_readonly("hypothesis",
                             [](const QuadratureBatch & batch) { return host::to_text(batch.kinematics().hypothesis); })
      .def_property_readonly("n_points", &QuadratureBatch::n_points)
      .def_property_readonly("input_names", &QuadratureBatch::input_names)
      .def_property_readonly("output_names", &QuadratureBatch::output_names)
      .def_property_readonly("state_names", &QuadratureBatch::state_names)
      .def_property_readonly("tangent_names", &QuadratureBatch::tangent_names)
      .def("shape", [](const QuadratureBatch & batch, const std::string & name)
           { return py::tuple(py::cast(batch.shape(name))); })
      .def("set_input", &set_input, py::arg("name"), py::arg("values"))
      .def("set_input_at",
           [](QuadratureBatch & batch, const std::string & name, const Points & points, const Array & values)
           { batch.set_input(name, span(points), some(batch, name, points, values)); })
      .def("set_parameter", [](QuadratureBatch & batch, const std::string & name, const Array & values)
           { batch.set_parameter(name, span(values)); })
      // A copy of the verdict: the next evaluate overwrites the batch's own.
      .def(
          "evaluate",
          [](QuadratureBatch & batch, bool tangent) -> host::Verdict
          {
            const py::gil_scoped_release release;
            return batch.evaluate(tangent);
          },
          py::arg("tangent") = false)
      .def("evaluate_points",
           [](QuadratureBatch & batch, const Points & points, bool tangent) -> host::Verdict
           {
             const auto numbers = span(points);
             const py::gil_scoped_release release;
             return batch.evaluate_points(numbers, tangent);
           })
      .def("evaluate_range",
           [](QuadratureBatch & batch, std::int64_t begin, std::int64_t end, bool tangent) -> host::Verdict
           {
             const py::gil_scoped_release release;
             return batch.evaluate_range(begin, end, tangent);
           })
      .def("full_strain",
           [](const QuadratureBatch & batch) { return view(batch.share_full_strain(), {batch.n_points(), 6}); })
      .def("full_stress",
           [](const QuadratureBatch & batch) { return view(batch.share_full_stress(), {batch.n_points(), 6}); })
      .def("output", [](const QuadratureBatch & batch, const std::string & name)
           { return view(batch.share_output(name), batched(batch, batch.shape(name))); })
      .def("tangent",
           [](const QuadratureBatch & batch, const std::string & out, const std::string & in)
           {
             const std::shared_ptr<const double> values = batch.share_tangent(out, in);
             Shape shape = batched(batch, batch.shape(out));
             const Shape & columns = batch.shape(in);
             shape.insert(shape.end(), columns.begin(), columns.end());
             return view(values, shape);
           })
      .def("state", [](const QuadratureBatch & batch, const std::string & name)
           { return view(batch.share_state(name), batched(batch, batch.shape(name))); })
      .def("set_state", [](QuadratureBatch & batch, const std::string & name, const Array & values)
           { batch.set_state(name, span(checked(batch, name, values, false))); })
      .def("set_state_at",
           [](QuadratureBatch & batch, const std::string & name, const Points & points, const Array & values)
           { batch.set_state(name, span(points), some(batch, name, points, values)); })
      .def("remap", [](QuadratureBatch & batch, const Points & from) { batch.remap(span(from)); })
      .def("commit", &QuadratureBatch::commit)
      .def("revert", &QuadratureBatch::revert)
      .def("save", [](const QuadratureBatch & batch) { return to_python(batch.save()); })
      .def("restore", [](QuadratureBatch & batch, const py::bytes & bytes) { batch.restore(span(bytes)); })
      .def("resize", &QuadratureBatch::resize, py::arg("n_points"));
}
}
