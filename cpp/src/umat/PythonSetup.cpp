#include "PythonSetup.h"

#include <cstdlib>

#include <dlfcn.h>

#include "matlaw/errors.h"

namespace matlaw::umat
{
static std::optional<std::string> variable(const char * name)
{
  const char * value = std::getenv(name);
  return value ? std::optional<std::string>(value) : std::nullopt;
}

static void set(const char * name, const std::optional<std::string> & value)
{
  if (value)
    setenv(name, value->c_str(), 1);
  else
    unsetenv(name);
}

PythonSetup::PythonSetup(const std::string & libpython, const std::string & python_bin)
{
  if (libpython.empty())
    return;
  const auto running = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "Py_IsInitialized"));
  if (running && running())
    return;
  // Extension modules of Python take its symbols from the whole process.
  if (!running && !dlopen(libpython.c_str(), RTLD_NOW | RTLD_GLOBAL))
  {
    const char * why = dlerror();
    throw FatalError("The law needs Python, and libpython cannot be loaded (" +
                     std::string(why ? why : "no reason given") +
                     "). Compile the law (matlaw-compile), or correct 'libpython' in the settings of the plugin.");
  }
  _changed = true;
  _path = variable("PATH");
  _home = variable("PYTHONHOME");
  set("PATH", python_bin + (_path ? ":" + *_path : ""));
  set("PYTHONHOME", std::nullopt);
}

PythonSetup::~PythonSetup()
{
  if (!_changed)
    return;
  set("PATH", _path);
  set("PYTHONHOME", _home);
}
}
