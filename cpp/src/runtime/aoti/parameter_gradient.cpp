#include "aoti/parameter_gradient.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/zeros.h>

namespace matlaw::aoti
{
namespace
{
std::int64_t extent(const std::vector<std::int64_t> & shape)
{
  std::int64_t size = 1;
  for (const auto n : shape)
    size *= n;
  return size;
}

/// (*batch', *axes') as (rows, size), where batch' and axes' broadcast to batch and axes: one line per row of the call.
at::Tensor lines(const at::Tensor & value, std::vector<std::int64_t> batch, const std::vector<std::int64_t> & axes)
{
  batch.insert(batch.end(), axes.begin(), axes.end());
  return value.expand(batch).reshape({-1, extent(axes)}).to(at::kDouble).contiguous();
}
}

at::Tensor parameter_gradient(const std::vector<WeightedBlock> & terms, const std::vector<std::int64_t> & batch,
                              const at::Tensor & parameter, const std::vector<std::int64_t> & own)
{
  const auto rows = extent(batch), size = extent(own);
  auto gradient = at::zeros(parameter.sizes(), at::kDouble);
  if (rows == 0 || size == 0)
    return gradient.to(parameter.scalar_type());

  // Which value of the parameter each row uses.
  const auto values = gradient.numel() / size;
  const auto own_batch = parameter.sizes().slice(0, std::size_t(parameter.dim()) - own.size());
  const auto owner = at::arange(values, at::kLong).reshape(own_batch).expand(batch).contiguous();
  const auto * of_row = owner.const_data_ptr<std::int64_t>();
  auto * to = gradient.mutable_data_ptr<double>();
  for (const auto & term : terms)
  {
    auto axes = term.output;
    axes.insert(axes.end(), own.begin(), own.end());
    const auto blocks = lines(term.block, batch, axes);
    const auto weights = lines(term.cotangent, batch, term.output);
    const auto output_size = extent(term.output);
    const auto * block = blocks.const_data_ptr<double>();
    const auto * weight = weights.const_data_ptr<double>();
    for (std::int64_t row = 0; row < rows; row++, weight += output_size)
      for (std::int64_t i = 0; i < output_size; i++, block += size)
        for (std::int64_t j = 0; j < size; j++)
          to[of_row[row] * size + j] += weight[i] * block[j];
  }
  return gradient.to(parameter.scalar_type());
}
}
