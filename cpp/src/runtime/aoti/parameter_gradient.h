// The adjoint of a law by one parameter, from the blocks of its outputs.
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

namespace matlaw::aoti
{
/// An output's derivative by the parameter, and the weight of that output.
struct WeightedBlock
{
  /// (*B, *out, *param), or without B where all rows have the same
  at::Tensor block;
  /// (*B', *out') with B' broadcastable to B, out' to out
  at::Tensor cotangent;
  /// `out`: (*sub_batch, *base) of the output
  std::vector<std::int64_t> output;
};

/// The derivative of sum(cotangent * output) over all terms by a parameter, of the shape of its value
/// (*P, *param), with `own` = param, its (*sub_batch, *base): rows that share one value are added up, in their order,
/// so the sum has the same bits however the rows were computed.
at::Tensor parameter_gradient(const std::vector<WeightedBlock> & terms, const std::vector<std::int64_t> & batch,
                              const at::Tensor & parameter, const std::vector<std::int64_t> & own);
}
