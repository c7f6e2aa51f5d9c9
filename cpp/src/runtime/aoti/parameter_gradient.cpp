#include "aoti/parameter_gradient.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/zeros.h>

namespace matlaw::aoti
{
namespace
{
/// (*batch', *base) as (rows, size): one line per row of the call.
at::Tensor lines(const at::Tensor & value, const std::vector<std::int64_t> & batch, std::int64_t base_ndim,
                 std::int64_t size)
{
  auto shape = batch;
  const auto base = value.sizes().slice(std::size_t(value.dim() - base_ndim));
  shape.insert(shape.end(), base.begin(), base.end());
  return value.expand(shape).reshape({-1, size}).to(at::kDouble).contiguous();
}
}

at::Tensor parameter_gradient(const std::vector<WeightedBlock> & terms, const std::vector<std::int64_t> & batch,
                              const at::Tensor & parameter, std::int64_t parameter_size,
                              std::int64_t parameter_base_ndim)
{
  std::int64_t rows = 1;
  for (const auto n : batch)
    rows *= n;
  auto gradient = at::zeros(parameter.sizes(), at::kDouble);
  if (rows == 0 || parameter_size == 0)
    return gradient.to(parameter.scalar_type());

  // Which value of the parameter each row uses.
  const auto values = gradient.numel() / parameter_size;
  const auto own = parameter.sizes().slice(0, std::size_t(parameter.dim() - parameter_base_ndim));
  const auto owner = at::arange(values, at::kLong).reshape(own).expand(batch).contiguous();
  const auto * of_row = owner.const_data_ptr<std::int64_t>();
  auto * to = gradient.mutable_data_ptr<double>();
  for (const auto & term : terms)
  {
    const auto blocks =
        lines(term.block, batch, term.output_base_ndim + parameter_base_ndim, term.output_size * parameter_size);
    const auto weights = lines(term.cotangent, batch, term.output_base_ndim, term.output_size);
    const auto * block = blocks.const_data_ptr<double>();
    const auto * weight = weights.const_data_ptr<double>();
    for (std::int64_t row = 0; row < rows; row++, weight += term.output_size)
      for (std::int64_t i = 0; i < term.output_size; i++, block += parameter_size)
        for (std::int64_t j = 0; j < parameter_size; j++)
          to[of_row[row] * parameter_size + j] += weight[i] * block[j];
  }
  return gradient.to(parameter.scalar_type());
}
}
