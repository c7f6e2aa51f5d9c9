// BatchGroup for Python.
#include <memory>
#include <string>

#include "arrays.h"
#include "matlaw/Model.h"
#include "matlaw/host/BatchGroup.h"
#include "modules.h"

namespace matlaw::bindings
{
using host::BatchGroup;

namespace
{
/// A fresh array for values of all points, of the shape that the first batch gives.
Array room(BatchGroup & group, Shape shape)
{
  shape.insert(shape.begin(), group.n_points());
  return Array(shape);
}

Span<double> writable(Array & values)
{
  return {values.mutable_data(), static_cast<std::size_t>(values.size())};
}

host::QuadratureBatch & first(BatchGroup & group)
{
  const auto names = group.names();
  if (names.empty())
    throw FatalError("BatchGroup: there is no batch yet; add one first");
  return group.batch(names.front());
}

Array output(BatchGroup & group, const std::string & name)
{
  Array values = room(group, first(group).shape(name));
  group.output(name, writable(values));
  return values;
}

Array tangent(BatchGroup & group, const std::string & out, const std::string & in)
{
  Shape shape = first(group).shape(out);
  const Shape & columns = first(group).shape(in);
  shape.insert(shape.end(), columns.begin(), columns.end());
  Array values = room(group, shape);
  group.tangent(out, in, writable(values));
  return values;
}

void set_input(BatchGroup & group, const std::string & name, const Array & values)
{
  if (values.ndim() == 0)
    group.set_input(name, *values.data());
  else
    group.set_input(name, span(values));
}
}

void bind_batch_group(py::module_ & module)
{
  py::class_<BatchGroup>(module, "BatchGroup")
      .def(py::init<std::int64_t>(), py::arg("n_points"))
      .def(
          "add",
          [](BatchGroup & group, const std::string & name, std::shared_ptr<Model> model, const Points & points,
             const std::string & hypothesis, const std::string & strain, const std::string & stress, double tolerance,
             int max_iterations) -> host::QuadratureBatch &
          {
            return group.add(name, std::move(model), span(points),
                             {host::hypothesis_from_text(hypothesis), strain, stress, tolerance, max_iterations});
          },
          py::return_value_policy::reference_internal)
      .def_property_readonly("n_points", &BatchGroup::n_points)
      .def("points", [](const BatchGroup & group, const std::string & name) { return copy(group.points(name)); })
      .def("set_input", &set_input)
      .def("evaluate",
           [](BatchGroup & group, bool tangent) -> host::Verdict
           {
             const py::gil_scoped_release release;
             return group.evaluate(tangent);
           })
      .def("output", &output)
      .def("tangent", &tangent)
      .def("commit", &BatchGroup::commit)
      .def("revert", &BatchGroup::revert)
      .def("save", [](const BatchGroup & group) { return to_python(group.save()); })
      .def("restore", [](BatchGroup & group, const py::bytes & bytes) { group.restore(span(bytes)); });
}
}
