// The results of some points become part of the results of all.
#pragma once

#include <optional>
#include <string>

#include "Rows.h"
#include "matlaw/Model.h"

namespace matlaw::host
{
bool has_block(const Evaluation & evaluation, const std::string & output, const std::string & input);

/// Puts `part`, the results of `rows`, into `whole`, those of `n_points` points. Values of points that no part was for
/// are NaN. `whole` has the derivatives of `part` afterwards, and no others. Where `rows` are not all points, every
/// tensor of `part` has the points as its first axis.
void merge_evaluations(std::optional<Evaluation> & whole, const Rows & rows, Evaluation part, std::int64_t n_points);
}
