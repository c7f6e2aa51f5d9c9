#include "interpreter.h"

#include <mutex>

namespace matlaw::eager
{
void ensure_interpreter()
{
  static std::mutex starting;
  const std::scoped_lock lock(starting);
  if (Py_IsInitialized())
    return;
  // 0: signal handlers stay those of the host.
  Py_InitializeEx(0);
  // Starting leaves the lock with this thread; other threads of the host would wait for it forever.
  PyEval_SaveThread();
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
