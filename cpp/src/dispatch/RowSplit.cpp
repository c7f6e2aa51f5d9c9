#include "RowSplit.h"

#include <algorithm>

#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>

namespace matlaw::dispatch
{
static std::vector<std::int64_t> concatenated(std::vector<std::int64_t> first, at::IntArrayRef second)
{
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

void RowSplit::add(const artifact::Variable & variable, const at::Tensor & value)
{
  const auto own = aoti::batch_shape(variable, value);
  const auto trailing = value.sizes().slice(own.size());
  const bool per_row = std::any_of(own.begin(), own.end(), [](std::int64_t n) { return n != 1; });
  const auto detached = value.detach();
  auto rows = per_row ? detached.expand(concatenated(_batch, trailing)).reshape(concatenated({_rows}, trailing))
                      : detached.reshape(trailing);
  _items.push_back({variable.reported, std::move(rows), per_row});
}

bool RowSplit::has_rows() const
{
  return std::any_of(_items.begin(), _items.end(), [](const Item & item) { return item.per_row; });
}

void RowSplit::ensure_rows()
{
  if (_items.empty() || has_rows())
    return;
  auto & item = _items.front();
  item.value = item.value.expand(concatenated({_rows}, item.value.sizes()));
  item.per_row = true;
}

TensorMap RowSplit::chunk(std::int64_t first, std::int64_t rows, const at::Device & device) const
{
  TensorMap result;
  for (const auto & item : _items)
    result.emplace(item.name, (item.per_row ? item.value.narrow(0, first, rows) : item.value).to(device));
  return result;
}

at::Tensor joined(const std::vector<at::Tensor> & chunks, const std::vector<std::int64_t> & batch,
                  const std::vector<std::int64_t> & trailing)
{
  const auto whole = chunks.size() == 1 ? chunks.front() : at::cat(chunks, 0);
  return whole.reshape(concatenated(batch, trailing));
}
}
