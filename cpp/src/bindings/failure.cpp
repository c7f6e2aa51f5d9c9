// Why calls failed, for Python: compiled and eager laws give the same objects.
#include "matlaw/Failure.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "../eager/python_solver_config.h"
#include "../eager/python_tensor.h"
#include "../runtime/diagnosis/replay_file.h"
#include "../runtime/diagnosis/tolerances.h"
#include "modules.h"

namespace py = pybind11;

namespace matlaw::bindings
{
namespace
{
/// A member of an enumeration of matlaw.evaluation.
py::object member(const char * enumeration, int value)
{
  return py::module_::import("matlaw.evaluation").attr(enumeration)(value);
}

/// (row, status, reason, place, name of the place, iterations, residuals, steps)
using RowTuple = std::tuple<std::int64_t, int, int, std::int32_t, std::string, std::int32_t, std::vector<double>,
                            std::vector<double>>;

std::shared_ptr<Failure> make_failure(const std::string & model, std::int64_t n_rows,
                                      const std::vector<std::int64_t> & failed_rows, const std::vector<RowTuple> & rows,
                                      const py::dict & inputs, const std::map<std::string, double> & typical,
                                      const py::dict & parameters, const std::vector<py::dict> & solver_configs)
{
  auto failure = std::make_shared<Failure>();
  failure->model = model;
  failure->n_rows = n_rows;
  failure->failed_rows = failed_rows;
  failure->inputs = eager::to_tensor_map(inputs, "inputs");
  failure->typical = typical;
  failure->parameters = eager::to_tensor_map(parameters, "parameters");
  std::vector<solve::NewtonConfig> solvers;
  for (const auto & settings : solver_configs)
    solvers.push_back(eager::with_changes({}, settings));
  for (const auto & [row, status, reason, place, name, iterations, residuals, steps] : rows)
  {
    auto & said = failure->rows.emplace_back();
    said = {row, Status(status), Reason(reason), place, "", iterations, residuals, steps};
    said.text = reason_text(said, diagnosis::iteration_limit(said, solvers), name);
  }
  diagnosis::set_tolerances(*failure, solvers);
  return failure;
}

/// Writes the replay file of an eager law where MATLAW_FAILURE_DIR asks for one.
void write_replay(Failure & failure, const std::string & file, const std::string & text,
                  const std::vector<std::string> & extensions, const std::string & dtype,
                  const py::dict & solver_configs)
{
  diagnosis::ReplaySource source;
  source.runtime = "eager";
  source.file = file;
  source.text = text;
  source.extensions = extensions;
  source.dtype = dtype;
  for (const auto & [update, settings] : solver_configs)
    source.solvers.emplace_back(update.cast<std::string>(),
                                eager::with_changes({}, py::reinterpret_borrow<py::dict>(settings)));
  failure.file = diagnosis::write_replay_file(diagnosis::replay_folder(), failure, source);
}
}

void bind_failure(py::module_ & module)
{
  py::class_<FailedRow>(module, "FailedRow", "One row that failed.")
      .def_readonly("row", &FailedRow::row, "of the flattened batch")
      .def_property_readonly("status", [](const FailedRow & row) { return member("Status", int(row.status)); })
      .def_property_readonly("reason", [](const FailedRow & row) { return member("Reason", int(row.reason)); })
      .def_readonly("place", &FailedRow::place, "the implicit segment that failed, or the output or input; -1: nothing")
      .def_readonly("text", &FailedRow::text, "the reason in words")
      .def_readonly("iterations", &FailedRow::iterations)
      .def_readonly("residuals", &FailedRow::residuals, "norm of the residual at each iterate")
      .def_readonly("steps", &FailedRow::steps, "part of each Newton step that was taken")
      .def("__repr__",
           [](const FailedRow & row) { return "FailedRow(" + std::to_string(row.row) + ": " + row.text + ")"; });
  py::class_<Failure, std::shared_ptr<Failure>>(module, "Failure", "A call in which rows failed.")
      .def_readonly("model", &Failure::model)
      .def_readonly("n_rows", &Failure::n_rows, "rows of the call")
      .def_readonly("failed_rows", &Failure::failed_rows, "all rows that failed, ascending")
      .def_readonly("rows", &Failure::rows, "the first of them, at most 16")
      .def_property_readonly(
          "inputs", [](const Failure & failure) { return eager::to_python(failure.inputs); },
          "what these rows were called with, each (rows, *sub_batch, *base)")
      .def_readonly("typical", &Failure::typical, "median norm of each input over the rows of the call")
      .def_property_readonly("parameters", [](const Failure & failure) { return eager::to_python(failure.parameters); })
      .def_readonly("atol", &Failure::atol)
      .def_readonly("rtol", &Failure::rtol)
      .def_readonly("miters", &Failure::miters)
      .def_readonly("file", &Failure::file, "the replay file; empty when none was written")
      .def_property_readonly("worst", [](const Failure & failure) { return failure.rows.at(failure.worst()); })
      .def("message", &Failure::message)
      .def("__repr__", [](const Failure & failure) { return "Failure(" + failure.message() + ")"; });
  module.def("make_failure", &make_failure, py::arg("model"), py::arg("n_rows"), py::arg("failed_rows"),
             py::arg("rows"), py::arg("inputs"), py::arg("typical"), py::arg("parameters"), py::arg("solver_configs"));
  module.def("replay_folder", &diagnosis::replay_folder);
  module.def("write_replay", &write_replay, py::arg("failure"), py::arg("file"), py::arg("text"), py::arg("extensions"),
             py::arg("dtype"), py::arg("solver_configs"));
}
}
