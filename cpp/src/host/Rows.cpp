#include "Rows.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include "tensors.h"

namespace matlaw::host
{
Rows Rows::all(std::int64_t n_points)
{
  return range(0, n_points);
}

Rows Rows::range(std::int64_t begin, std::int64_t end)
{
  Rows rows;
  rows._begin = begin;
  rows._size = end - begin;
  return rows;
}

Rows Rows::of(Span<const std::int64_t> points)
{
  const at::Tensor index = at::empty({static_cast<std::int64_t>(points.size())}, at::kLong);
  std::copy(points.begin(), points.end(), index.mutable_data_ptr<std::int64_t>());
  return of(index);
}

Rows Rows::of(at::Tensor index)
{
  Rows rows;
  rows._size = index.numel();
  rows._index = index.contiguous();
  return rows;
}

std::int64_t Rows::operator[](std::int64_t i) const
{
  return _index.defined() ? _index.const_data_ptr<std::int64_t>()[i] : _begin + i;
}

bool Rows::are_all(std::int64_t n_points) const
{
  return !_index.defined() && _begin == 0 && _size == n_points;
}

at::Tensor Rows::take(const at::Tensor & full) const
{
  if (are_all(full.size(0)))
    return full;
  return _index.defined() ? full.index_select(0, _index.to(full.device())) : full.narrow(0, _begin, _size);
}

void Rows::put(at::Tensor & full, const at::Tensor & part) const
{
  if (are_all(full.size(0)))
  {
    full = part;
    return;
  }
  if (is_shared(full))
    full = full.clone();
  if (_index.defined())
    full.index_copy_(0, _index.to(full.device()), part);
  else
    full.narrow(0, _begin, _size).copy_(part);
}
}
