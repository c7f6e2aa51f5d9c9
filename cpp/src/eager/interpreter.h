// The Python interpreter of this process: started when there is none, never finalised.
#pragma once

#include <pybind11/pybind11.h>

namespace matlaw::eager
{
/// Starts an interpreter unless one runs. The lock is free afterwards when it was started here. Throws FatalError when
/// the process holds a Python of another minor version than this library was built for.
void ensure_interpreter();

/// True when the interpreter was started here, so the host is no Python program.
bool interpreter_is_ours();

/// False before the start and from the moment the host finalises its interpreter: objects can then not be released.
bool interpreter_is_usable();

/// Holds the interpreter lock; from any thread, also when this thread holds it already.
class GilLock
{
public:
  GilLock() : _state(PyGILState_Ensure()) {}
  ~GilLock() { PyGILState_Release(_state); }
  GilLock(const GilLock &) = delete;
  GilLock & operator=(const GilLock &) = delete;

private:
  PyGILState_STATE _state;
};
}
