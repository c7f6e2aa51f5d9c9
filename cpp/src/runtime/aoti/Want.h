// What a call of a compiled law computes.
#pragma once

#include <cstdint>

namespace matlaw::aoti
{
enum class Want : std::uint8_t
{
  VALUES,
  /// and the derivatives by inputs, Evaluation::jacobian[output][input]
  JACOBIAN,
  /// and the derivatives by parameters, Evaluation::jacobian[output][parameter]
  PARAM_JACOBIAN
};
}
