// Some rows of a batch.
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

namespace matlaw::diagnosis
{
/// Rows of the flattened batch of `value`, (*B', *trailing) with B' that broadcasts to `batch`: a copy,
/// (rows.size(), *trailing).
at::Tensor take_rows(const at::Tensor & value, const std::vector<std::int64_t> & batch,
                     const std::vector<std::int64_t> & trailing, const std::vector<std::int64_t> & rows);

/// Median of the Euclidean norms of the rows of `value`, of at most 1024 of them, evenly spread; 0 without rows.
double median_norm(const at::Tensor & value, const std::vector<std::int64_t> & batch,
                   const std::vector<std::int64_t> & trailing);
}
