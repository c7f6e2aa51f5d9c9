#include "embedding.h"

#include <string>

#include <torch/version.h>

#include "matlaw/errors.h"

namespace py = pybind11;

namespace matlaw::eager
{
namespace
{
/// Refuses a torch of another release: this process holds the libraries of one already, two would not go together.
void check_torch_version()
{
  const std::string version = py::cast<std::string>(py::module_::import("importlib.metadata").attr("version")("torch"));
  const std::string wanted = std::to_string(TORCH_VERSION_MAJOR) + "." + std::to_string(TORCH_VERSION_MINOR) + ".";
  if (!version.starts_with(wanted))
    throw FatalError("the Python environment of this process holds torch " + version + ", matlaw was built for torch " +
                     wanted + "*; install that one there");
}
}

py::module_ embedding()
{
  try
  {
    check_torch_version();
    return py::module_::import("matlaw.runtime.embedding");
  }
  catch (py::error_already_set & error)
  {
    if (!error.matches(PyExc_ImportError))
      throw;
    const std::string home = py::cast<std::string>(py::module_::import("sys").attr("prefix"));
    throw FatalError("the Python interpreter of this process (environment " + home +
                     ") cannot import matlaw; set PYTHONPATH to the site-packages folder that holds matlaw and torch, "
                     "or put the bin folder of that environment first on PATH. Python raised " +
                     description(error));
  }
}
}
