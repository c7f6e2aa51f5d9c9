// The Python half of this room, and how it is entered.
#pragma once

#include <utility>

#include <pybind11/pybind11.h>

#include "interpreter.h"
#include "python_errors.h"

namespace matlaw::eager
{
/// The module matlaw.runtime.embedding. Needs the GIL. Throws FatalError with a remedy when it cannot be imported.
pybind11::module_ embedding();

/// Runs `action` with the lock held; what Python raises is converted before the lock is given back.
template <typename Action>
auto in_python(Action && action)
{
  ensure_interpreter();
  const GilLock gil;
  return with_matlaw_errors(std::forward<Action>(action));
}
}
