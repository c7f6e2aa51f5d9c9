#include "interpreter.h"

#include <atomic>
#include <mutex>
#include <string>

#include "matlaw/errors.h"

namespace matlaw::eager
{
static std::atomic<bool> started_here = false;

/// The layout of Python's objects is that of one minor version.
static void check_version()
{
  const std::string here = Py_GetVersion();
  const std::string wanted = std::to_string(PY_MAJOR_VERSION) + "." + std::to_string(PY_MINOR_VERSION) + ".";
  if (!here.starts_with(wanted))
    throw FatalError("this process holds Python " + here.substr(0, here.find(' ')) +
                     ", libmatlaw_eager was built for Python " + wanted +
                     "*; link that libpython, or install a matlaw for the Python that is there");
}

void ensure_interpreter()
{
  static std::mutex starting;
  const std::scoped_lock lock(starting);
  check_version();
  if (Py_IsInitialized())
    return;
  // 0: signal handlers stay those of the host.
  Py_InitializeEx(0);
  // Starting leaves the lock with this thread; other threads of the host would wait for it forever.
  PyEval_SaveThread();
  started_here = true;
}

bool interpreter_is_ours()
{
  return started_here;
}

bool interpreter_is_usable()
{
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsInitialized() && !Py_IsFinalizing();
#else
  return Py_IsInitialized() && !_Py_IsFinalizing();
#endif
}
}
