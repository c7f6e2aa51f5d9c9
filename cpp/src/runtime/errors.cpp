#include "matlaw/errors.h"

namespace matlaw
{
// Out-of-line destructors pin each vtable and type_info to this library, so that a handler in another library catches.
Exception::~Exception() = default;

ConvergenceError::ConvergenceError(const std::string & what, std::vector<std::int64_t> failed_rows)
    : Exception(what),
      _failed_rows(std::move(failed_rows))
{
}
ConvergenceError::~ConvergenceError() = default;

FatalError::~FatalError() = default;

InputError::InputError(const std::string & what, std::string variable, std::int64_t row)
    : FatalError(what),
      _variable(std::move(variable)),
      _row(row)
{
}
InputError::~InputError() = default;
}
