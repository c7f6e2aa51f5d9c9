#include "merge_evaluations.h"

#include <limits>

#include <ATen/core/Tensor.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

namespace matlaw::host
{
namespace
{
void merge(at::Tensor & whole, const Rows & rows, const at::Tensor & part, std::int64_t n_points)
{
  auto shape = part.sizes().vec();
  shape.front() = n_points;
  if (!whole.defined())
    whole = part.is_floating_point() ? at::full(shape, std::numeric_limits<double>::quiet_NaN(), part.options())
                                     : at::zeros(shape, part.options());
  else if (whole.dim() < part.dim()) // one block for all points so far
    whole = whole.expand(shape).clone();
  rows.put(whole, part);
}

std::vector<std::int64_t> failed_rows(const at::Tensor & status)
{
  std::vector<std::int64_t> failed;
  const auto values = status.to(at::kCPU, at::kChar).contiguous();
  for (std::int64_t i = 0; i < values.numel(); ++i)
    if (values.const_data_ptr<std::int8_t>()[i] != static_cast<std::int8_t>(Status::CONVERGED))
      failed.push_back(i);
  return failed;
}
}

bool has_block(const Evaluation & evaluation, const std::string & output, const std::string & input)
{
  const auto row = evaluation.jacobian.find(output);
  return row != evaluation.jacobian.end() && row->second.count(input);
}

void merge_evaluations(std::optional<Evaluation> & whole, const Rows & rows, Evaluation part, std::int64_t n_points)
{
  if (rows.are_all(n_points))
  {
    whole = std::move(part);
    return;
  }
  if (!whole)
    whole.emplace();
  for (const auto & [name, values] : part.outputs)
    merge(whole->outputs[name], rows, values, n_points);
  BlockMap blocks;
  for (const auto & [output, row] : part.jacobian)
    for (const auto & [input, block] : row)
    {
      if (has_block(*whole, output, input))
        blocks[output][input] = std::move(whole->jacobian[output][input]);
      merge(blocks[output][input], rows, block, n_points);
    }
  whole->jacobian = std::move(blocks);
  merge(whole->status, rows, part.status, n_points);
  merge(whole->iterations, rows, part.iterations, n_points);
  if (part.substeps.defined())
    merge(whole->substeps, rows, part.substeps, n_points);
  if (!whole->dt_factor.defined())
    whole->dt_factor = at::ones({n_points}, part.dt_factor.options());
  merge(whole->dt_factor, rows, part.dt_factor, n_points);
  whole->failed_rows = failed_rows(whole->status);
}
}
