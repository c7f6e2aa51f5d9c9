// Solver settings across the language boundary: a dict in Python.
#pragma once

#include <pybind11/pybind11.h>

#include "matlaw/eager/export.h"
#include "matlaw/solve/NewtonConfig.h"

namespace matlaw::eager
{
/// dict of atol, rtol, miters ...
MATLAW_EAGER_API pybind11::dict to_python(const solve::NewtonConfig & config);

/// The settings with those changed that a dict names. Throws FatalError for one that does not exist, or that has a
/// value of the wrong kind; whether it is in range is left to solve::check.
MATLAW_EAGER_API solve::NewtonConfig with_changes(solve::NewtonConfig config, const pybind11::dict & changes);
}
