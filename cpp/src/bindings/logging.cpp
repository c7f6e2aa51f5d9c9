// The log, for Python: matlaw.logs documents it.
#include "matlaw/logging.h"

#include <memory>
#include <string>

#include <pybind11/functional.h>
#include <pybind11/pybind11.h>

#include "modules.h"

namespace py = pybind11;

namespace matlaw::bindings
{
namespace
{
using namespace logging;

/// A Python function that texts go to. It is let go of with the interpreter lock, while there is an interpreter.
struct PythonSink
{
  explicit PythonSink(py::function function) : function(new py::function(std::move(function))) {}
  ~PythonSink()
  {
    if (!Py_IsInitialized())
      return;
    const py::gil_scoped_acquire gil;
    delete function;
  }
  PythonSink(const PythonSink &) = delete;
  PythonSink & operator=(const PythonSink &) = delete;

  void operator()(Channel channel, Level level, const std::string & text) const
  {
    if (!Py_IsInitialized())
      return;
    const py::gil_scoped_acquire gil;
    try
    {
      (*function)(name(channel), name(level), text);
    }
    catch (py::error_already_set & error)
    {
      error.discard_as_unraisable("matlaw: the sink of the log");
    }
  }

  py::function * function;
};

void set_python_sink(const py::object & function)
{
  Sink sink;
  if (!function.is_none())
    sink = [to = std::make_shared<PythonSink>(function.cast<py::function>())](
               Channel channel, Level level, const std::string & text) { (*to)(channel, level, text); };
  set_sink(std::move(sink));
}

void write_from_python(const std::string & channel, const std::string & level, const std::string & text)
{
  write(channel_from_text(channel), level_from_text(level), text);
}
}

void bind_logging(py::module_ & module)
{
  module.def(
      "log_enabled", [](const std::string & channel, const std::string & level)
      { return enabled(channel_from_text(channel), level_from_text(level)); }, py::arg("channel"), py::arg("level"));
  module.def("log", &write_from_python, py::arg("channel"), py::arg("level"), py::arg("text"));
  module.def("log_levels",
             []
             {
               py::dict levels;
               for (std::size_t i = 0; i < n_channels; i++)
                 levels[name(Channel(i))] = name(level(Channel(i)));
               return levels;
             });
  module.def("set_log_levels", &set_levels, py::arg("assignments"));
  module.def("set_log_sink", &set_python_sink, py::arg("sink"));
}
}
