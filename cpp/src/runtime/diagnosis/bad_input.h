// Which input of a row is wrong.
#pragma once

#include <cstdint>
#include <vector>

#include "matlaw/Model.h"

namespace matlaw::diagnosis
{
/// Throws InputError for the first of `rows`, whose status is BAD_INPUT: for an input that is not finite, or a time
/// that does not advance.
[[noreturn]] void throw_bad_input(const Model & model, const TensorMap & inputs, const Evaluation & evaluation,
                                  const std::vector<std::int64_t> & rows);

/// Throws InputError when a row failed while its time did not advance, and all its inputs are finite.
void check_time_advances(const Model & model, const TensorMap & inputs, const Evaluation & evaluation);

/// Rows of a status, ascending.
std::vector<std::int64_t> rows_with(Status status, const Evaluation & evaluation);
}
