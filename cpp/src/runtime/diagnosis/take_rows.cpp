#include "diagnosis/take_rows.h"

#include <algorithm>

#include <ATen/core/Tensor.h>
#include <ATen/ops/div.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/remainder.h>
#include <ATen/ops/tensor.h>

namespace matlaw::diagnosis
{
at::Tensor take_rows(const at::Tensor & value, const std::vector<std::int64_t> & batch,
                     const std::vector<std::int64_t> & trailing, const std::vector<std::int64_t> & rows)
{
  auto shape = batch;
  shape.insert(shape.end(), trailing.begin(), trailing.end());
  const auto whole = value.expand(shape); // a view: only the rows are copied
  if (batch.empty())
  {
    shape.insert(shape.begin(), std::int64_t(rows.size()));
    return whole.unsqueeze(0).expand(shape).clone(at::MemoryFormat::Contiguous);
  }
  auto left = at::tensor(rows, at::kLong);
  c10::List<std::optional<at::Tensor>> indices;
  std::vector<at::Tensor> by_axis(batch.size());
  for (std::size_t axis = batch.size(); axis-- > 0;)
  {
    by_axis[axis] = at::remainder(left, batch[axis]).to(value.device());
    left = at::div(left, batch[axis], "floor");
  }
  for (auto & index : by_axis)
    indices.push_back(std::move(index));
  return whole.index(indices).contiguous();
}

double median_norm(const at::Tensor & value, const std::vector<std::int64_t> & batch,
                   const std::vector<std::int64_t> & trailing)
{
  std::int64_t n_rows = 1;
  for (const auto n : batch)
    n_rows *= n;
  if (n_rows == 0)
    return 0.0;
  constexpr std::int64_t most = 1024;
  std::vector<std::int64_t> rows(std::min(n_rows, most));
  for (std::size_t i = 0; i < rows.size(); i++)
    rows[i] = std::int64_t(i) * n_rows / std::int64_t(rows.size());
  const auto flat = take_rows(value, batch, trailing, rows).to(at::kDouble).reshape({std::int64_t(rows.size()), -1});
  return at::linalg_vector_norm(flat, 2, at::IntArrayRef{1}).median().item<double>();
}
}
