// C++ exceptions become the classes of matlaw.errors, attributes included.
#include <exception>
#include <string>

#include <c10/util/Exception.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "matlaw/dispatch/AggregateError.h"
#include "matlaw/errors.h"
#include "modules.h"

namespace py = pybind11;

namespace matlaw::bindings
{
namespace
{
template <typename... Args>
void raise(const char * name, Args &&... args)
{
  const py::object type = py::module_::import("matlaw.errors").attr(name);
  const py::object error = type(std::forward<Args>(args)...);
  PyErr_SetObject(type.ptr(), error.ptr());
}

void translate(std::exception_ptr pending)
{
  try
  {
    if (pending)
      std::rethrow_exception(pending);
  }
  catch (const ConvergenceError & e)
  {
    raise("ConvergenceError", std::string(e.what()), e.failed_rows());
  }
  catch (const InputError & e)
  {
    raise("InputError", std::string(e.what()), e.variable(), e.row());
  }
  catch (const dispatch::AggregateError & e)
  {
    py::list failures;
    for (const auto & failure : e.failures())
      failures.append(py::make_tuple(failure.device, failure.first_row, failure.rows, failure.message));
    raise("AggregateError", std::string(e.what()), failures, e.failed_rows(), e.recoverable());
  }
  catch (const Exception & e)
  {
    raise("FatalError", std::string(e.what()));
  }
  catch (const c10::Error & e)
  {
    raise("FatalError", std::string(e.what_without_backtrace()));
  }
}
}

void bind_errors(py::module_ & module)
{
  py::register_local_exception_translator(&translate);
}
}
