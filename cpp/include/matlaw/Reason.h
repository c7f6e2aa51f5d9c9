// Why a row failed, as a number.
#pragma once

#include <cstdint>

namespace matlaw
{
/// matlaw::Failure says it in words.
enum class Reason : std::int8_t
{
  /// The row did not fail
  NONE = 0,
  /// Newton used all its iterations
  ITERATION_LIMIT = 1,
  /// The residual became NaN or infinite
  RESIDUAL_NOT_FINITE = 2,
  /// The Jacobian of a Newton step was singular
  SINGULAR_JACOBIAN = 3,
  /// The iterative linear solver did not get far enough
  LINEAR_SOLVER = 4,
  /// Solved, but the Jacobian at the solution is singular and derivatives were asked for
  SINGULAR_TANGENT = 5,
  /// An output is NaN or infinite
  OUTPUT_NOT_FINITE = 6,
  /// An input or parameter is NaN or infinite
  INPUT_NOT_FINITE = 7,
  /// The row failed, and its time is not after the old one
  TIME_DOES_NOT_ADVANCE = 8
};
}
