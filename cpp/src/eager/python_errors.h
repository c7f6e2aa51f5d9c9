// What Python raised, as the exceptions of matlaw.
#pragma once

#include <string>

#include <pybind11/pybind11.h>

namespace matlaw::eager
{
/// "TypeError: ... (law.py, line 12)", in one line: what was raised and where, without the frames of the host's own
/// Python. Needs the GIL.
std::string description(const pybind11::error_already_set & error);

/// Throws the C++ twin of a Python exception: ConvergenceError with its rows and InputError with variable and row as
/// they are, everything else as FatalError. In a host that is Python itself, what is no error but a request to stop
/// (KeyboardInterrupt, SystemExit) is thrown on as it is. Needs the GIL.
[[noreturn]] void throw_matlaw_error(pybind11::error_already_set & error);

/// Runs `action` and converts what Python raises in it. Needs the GIL.
template <typename Action>
auto with_matlaw_errors(Action && action)
{
  try
  {
    return action();
  }
  catch (pybind11::error_already_set & error)
  {
    throw_matlaw_error(error);
  }
  catch (const pybind11::cast_error & error)
  {
    pybind11::set_error(PyExc_TypeError, error.what());
    pybind11::error_already_set raised;
    throw_matlaw_error(raised);
  }
}
}
