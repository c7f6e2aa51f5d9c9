#include "layout.h"

#include <algorithm>

#include <ATen/core/Tensor.h>

#include "transpose.h"

namespace matlaw::runtime
{
template <typename Real>
RowReader<Real>::RowReader(const at::Tensor & tensor, const std::vector<std::int64_t> & batch,
                           const std::vector<std::int64_t> & sub_batch, const std::vector<std::int64_t> & base)
    : _data(tensor.const_data_ptr<Real>())
{
  // Axes are aligned from the right; one that is broadcast has stride 0. (at::Tensor::expand takes a microsecond.)
  const auto missing = batch.size() + sub_batch.size() + base.size() - std::size_t(tensor.dim());
  const auto stride_of = [&](std::size_t axis, std::int64_t size)
  {
    const auto own = std::int64_t(axis) - std::int64_t(missing);
    return own >= 0 && tensor.size(own) == size ? tensor.stride(own) : 0;
  };
  _components.push_back(0);
  const auto expand_axes = [&](std::size_t first_axis, const std::vector<std::int64_t> & sizes)
  {
    for (std::size_t axis = 0; axis < sizes.size(); axis++)
    {
      const auto size = sizes[axis], stride = stride_of(first_axis + axis, size);
      // In place, from behind: entry k comes from entry k / size, which is not written yet.
      _components.resize(_components.size() * std::size_t(size));
      for (auto k = std::int64_t(_components.size()) - 1; k >= 0; k--)
        _components[k] = _components[k / size] + k % size * stride;
    }
  };
  expand_axes(batch.size() + sub_batch.size(), base);
  expand_axes(batch.size(), sub_batch);
  for (std::size_t c = 0; c < _components.size(); c++)
    _consecutive &= _components[c] == std::int64_t(c);

  for (std::size_t axis = 0; axis < batch.size(); axis++)
  {
    if (batch[axis] == 1)
      continue;
    const auto stride = stride_of(axis, batch[axis]);
    if (!_sizes.empty() && _strides.back() == stride * batch[axis])
    {
      _sizes.back() *= batch[axis];
      _strides.back() = stride;
    }
    else
    {
      _sizes.push_back(batch[axis]);
      _strides.push_back(stride);
    }
  }
  if (_sizes.empty())
  {
    _sizes = {1};
    _strides = {0};
  }
}

template <typename Real>
std::optional<RowPlace<const Real>> RowReader<Real>::place() const
{
  if (_sizes.size() != 1)
    return std::nullopt;
  const auto step = _components.size() > 1 ? _components[1] : 1;
  for (std::size_t c = 0; c < _components.size(); c++)
    if (_components[c] != std::int64_t(c) * step)
      return std::nullopt;
  return RowPlace<const Real>{_data, _strides[0], step};
}

template <typename Real>
void RowReader<Real>::read(std::int64_t first, std::int64_t rows, Real * slot, std::int64_t ld) const
{
  // Runs of rows along the innermost batch axis have one stride.
  const auto inner = _sizes.back();
  const auto step = _strides.back();
  for (std::int64_t done = 0; done < rows;)
  {
    auto index = (first + done) / inner;
    const auto start = (first + done) % inner;
    const auto run = std::min(rows - done, inner - start);
    auto offset = start * step;
    for (auto axis = std::int64_t(_sizes.size()) - 2; axis >= 0; axis--)
    {
      offset += index % _sizes[axis] * _strides[axis];
      index /= _sizes[axis];
    }
    if (step == 1)
    {
      for (std::size_t c = 0; c < _components.size(); c++)
        std::copy_n(_data + offset + _components[c], run, slot + std::int64_t(c) * ld + done);
      done += run;
      continue;
    }
    if (_consecutive)
    {
      rows_to_components(_data + offset, step, std::int64_t(_components.size()), run, slot + done, ld);
      done += run;
      continue;
    }
    // A tile of rows at a time: what one component reads of a cache line, the next finds there.
    constexpr std::int64_t tile = 16;
    for (std::int64_t row = 0; row < run; row += tile)
    {
      const auto height = std::min(tile, run - row);
      const Real * tile_from = _data + offset + row * step;
      Real * tile_to = slot + done + row;
      for (std::size_t c = 0; c < _components.size(); c++)
      {
        const Real * from = tile_from + _components[c];
        Real * to = tile_to + std::int64_t(c) * ld;
        for (std::int64_t i = 0; i < height; i++)
          to[i] = from[i * step];
      }
    }
    done += run;
  }
}

template <typename Real>
void RowWriter<Real>::write(std::int64_t first, std::int64_t rows, const Real * slot, std::int64_t ld) const
{
  const auto size = _sub_batch_size * _base_size;
  const auto place = _place.from_row(first);
  if (place.batch_last())
  {
    for (std::int64_t b = 0; b < _base_size; b++)
      for (std::int64_t s = 0; s < _sub_batch_size; s++)
        std::copy_n(slot + (b * _sub_batch_size + s) * ld, rows, &place.at(0, s * _base_size + b));
    return;
  }
  if (_sub_batch_size == 1)
    return components_to_rows(slot, ld, size, rows, place.data, place.row);
  constexpr std::int64_t tile = 8; // a cache line of the slot at a time
  for (std::int64_t row = 0; row < rows; row += tile)
  {
    const auto height = std::min(tile, rows - row);
    for (std::int64_t b = 0; b < _base_size; b++)
      for (std::int64_t s = 0; s < _sub_batch_size; s++)
      {
        const Real * from = slot + (b * _sub_batch_size + s) * ld + row;
        for (std::int64_t i = 0; i < height; i++)
          place.at(row + i, s * _base_size + b) = from[i];
      }
  }
}

std::vector<std::int64_t> public_positions(std::int64_t sub_batch_size, std::int64_t base_size)
{
  std::vector<std::int64_t> positions;
  positions.reserve(std::size_t(sub_batch_size * base_size));
  for (std::int64_t b = 0; b < base_size; b++)
    for (std::int64_t s = 0; s < sub_batch_size; s++)
      positions.push_back(s * base_size + b);
  return positions;
}

template class RowReader<double>;
template class RowReader<float>;
template class RowWriter<double>;
template class RowWriter<float>;
}
