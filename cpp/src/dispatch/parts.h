// The results of the chunks of a call, and how they become one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include <ATen/core/Tensor.h>

#include "RowSplit.h"
#include "matlaw/Model.h"

namespace matlaw::dispatch
{
/// The result of a chunk and the copy that gave it.
template <typename Result>
struct Part
{
  std::size_t device = 0;
  std::int64_t rows = 0;
  Result result;
};

/// By their first rows.
template <typename Result>
using Parts = std::map<std::int64_t, Part<Result>>;

/// Joins outputs, or what is shaped like outputs: `map_of(result)` has them by name.
template <typename Result, typename MapOf>
TensorMap joined_outputs(const Parts<Result> & parts, const std::vector<artifact::Variable> & outputs,
                         const std::vector<std::int64_t> & batch, const MapOf & map_of)
{
  TensorMap whole;
  for (const auto & variable : outputs)
  {
    std::vector<at::Tensor> chunks;
    for (const auto & [first, part] : parts)
      if (const auto found = map_of(part.result).find(variable.reported); found != map_of(part.result).end())
        chunks.push_back(found->second);
    if (!chunks.empty())
      whole.emplace(variable.reported, joined(chunks, batch, variable.public_shape()));
  }
  return whole;
}

/// Joins a block of each chunk, `block_of(part)`; `shared(part)` says that it has no batch, which the whole has neither
/// when all have none.
template <typename Result, typename BlockOf, typename Shared>
at::Tensor joined_block(const Parts<Result> & parts, const std::vector<std::int64_t> & batch, const BlockOf & block_of,
                        const Shared & shared)
{
  if (std::all_of(parts.begin(), parts.end(), [&](const auto & entry) { return shared(entry.second); }))
    return block_of(parts.begin()->second);
  std::vector<at::Tensor> chunks;
  for (const auto & [first, part] : parts)
  {
    const at::Tensor & block = block_of(part);
    auto shape = block.sizes().vec();
    shape.insert(shape.begin(), part.rows);
    chunks.push_back(shared(part) ? block.expand(shape) : block);
  }
  return joined(chunks, batch, chunks.front().sizes().slice(1).vec());
}

/// Everything of an evaluation but outputs and derivatives.
void join_verdicts(const Parts<Evaluation> & parts, const std::vector<std::int64_t> & batch, Evaluation & whole);
}
