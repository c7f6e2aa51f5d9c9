// The error taxonomy under the names that hosts of the compiled route use.
#pragma once

#include "matlaw/errors.h"

namespace matlaw::aoti
{
using matlaw::ConvergenceError;
using matlaw::Exception;
using matlaw::FatalError;
using matlaw::InputError;
}
