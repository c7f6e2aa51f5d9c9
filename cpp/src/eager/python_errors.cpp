#include "python_errors.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <pybind11/stl.h>

#include "interpreter.h"
#include "matlaw/errors.h"

namespace py = pybind11;

namespace matlaw::eager
{
namespace
{
/// True when the exception is an instance of this class of matlaw.errors.
bool is(const py::object & value, const char * name)
{
  return py::isinstance(value, py::module_::import("matlaw.errors").attr(name));
}

}

std::string description(const py::error_already_set & error)
{
  std::string text =
      py::cast<std::string>(error.type().attr("__name__")) + ": " + py::cast<std::string>(py::str(error.value()));
  std::replace(text.begin(), text.end(), '\n', ' ');
  const py::object trace = error.trace() ? py::object(error.trace()) : py::none();
  const py::list frames = py::module_::import("traceback").attr("extract_tb")(trace);
  if (!frames.empty())
  {
    const py::object last = frames[frames.size() - 1];
    text += " (" + py::cast<std::string>(last.attr("filename")) + ", line " +
            py::cast<std::string>(py::str(last.attr("lineno"))) + ")";
  }
  return text;
}

void throw_matlaw_error(py::error_already_set & error)
{
  if (!interpreter_is_ours() && !error.matches(PyExc_Exception))
    throw error;
  const py::object value = error.value();
  // Absent when the import of matlaw itself failed.
  const py::object modules = py::module_::import("sys").attr("modules");
  if (modules.contains("matlaw.errors"))
  {
    const std::string message = py::cast<std::string>(py::str(value));
    if (is(value, "ConvergenceError"))
      throw ConvergenceError(message, py::cast<std::vector<std::int64_t>>(value.attr("failed_rows")));
    if (is(value, "InputError"))
      throw InputError(message, py::cast<std::string>(value.attr("variable")),
                       py::cast<std::int64_t>(value.attr("row")));
    if (is(value, "MatlawError"))
      throw FatalError(message);
  }
  throw FatalError("Python raised " + description(error));
}
}
