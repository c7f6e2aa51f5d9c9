// Small dense systems, one for each point.
#pragma once

#include <ATen/core/Tensor.h>

#include "matlaw/Span.h"

namespace matlaw::host
{
/// Solves A_ff x = b for each point: `a` is (n, 6, 6), `free` the rows and columns f that count, `b` (n, free, m). By
/// Gaussian elimination with partial pivoting in double. A point with a singular matrix gets NaN.
at::Tensor solve_rows(const at::Tensor & a, Span<const int> free, const at::Tensor & b);
}
