#include "aoti/PairLayout.h"

#include <algorithm>
#include <type_traits>

#include "layout.h"
#include "transpose.h"

namespace matlaw::aoti
{
namespace
{
std::vector<std::int64_t> positions(const artifact::Variable & variable)
{
  return runtime::public_positions(variable.size / std::max<std::int64_t>(variable.base_size(), 1),
                                   variable.base_size());
}
}

PairLayout::PairLayout(const artifact::Variable & output, const artifact::Variable & input, bool batch_independent)
    : _output(&output),
      _input(&input),
      _batch_independent(batch_independent),
      _rows(positions(output)),
      _columns(positions(input)),
      _plain(std::is_sorted(_rows.begin(), _rows.end()) && std::is_sorted(_columns.begin(), _columns.end()))
{
}

std::vector<std::int64_t> PairLayout::shape() const
{
  auto shape = _output->public_shape();
  const auto by = _input->public_shape();
  shape.insert(shape.end(), by.begin(), by.end());
  return shape;
}

template <typename Real, typename To>
void PairLayout::copy(const Block & block, const Real * arena, std::int64_t ld, std::int64_t rows, To * to) const
{
  const auto p = _output->size, r = _input->size;
  if (block.kind != Block::Kind::STORED)
  {
    std::fill_n(to, rows * p * r, To(0));
    if (block.kind == Block::Kind::IDENTITY)
      for (std::int64_t i = 0; i < rows; i++)
        for (std::int64_t j = 0; j < p; j++)
          to[(i * p + j) * r + j] = To(1);
    return;
  }
  if constexpr (std::is_same_v<Real, To>)
    if (_plain)
    {
      // As many entries at once as stand side by side on both sides.
      const auto whole = block.stride == r;
      for (std::int64_t i = 0; i < (whole ? 1 : p); i++)
        runtime::components_to_rows(arena + (block.offset + i * block.stride) * ld, ld, whole ? p * r : r, rows,
                                    to + i * r, p * r);
      return;
    }
  constexpr std::int64_t tile = 8;
  for (std::int64_t row = 0; row < rows; row += tile)
  {
    const auto height = std::min(tile, rows - row);
    for (std::int64_t i = 0; i < p; i++)
      for (std::int64_t j = 0; j < r; j++)
      {
        const Real * from = arena + (block.offset + i * block.stride + j) * ld + row;
        To * place = to + row * p * r + _rows[i] * r + _columns[j];
        for (std::int64_t h = 0; h < height; h++)
          place[h * p * r] = To(from[h]);
      }
  }
}

template <typename Real, typename To>
void PairLayout::copy_row(const Real * from, std::int64_t columns, std::int64_t ld, To * to) const
{
  const auto p = _output->size, r = _input->size;
  for (std::int64_t i = 0; i < p; i++)
    for (std::int64_t j = 0; j < r; j++)
      to[_rows[i] * r + _columns[j]] = To(from[(i * columns + j) * ld]);
}

template void PairLayout::copy<double, double>(const Block &, const double *, std::int64_t, std::int64_t,
                                               double *) const;
template void PairLayout::copy_row<double, double>(const double *, std::int64_t, std::int64_t, double *) const;
template void PairLayout::copy<float, float>(const Block &, const float *, std::int64_t, std::int64_t, float *) const;
template void PairLayout::copy_row<float, float>(const float *, std::int64_t, std::int64_t, float *) const;
template void PairLayout::copy<float, double>(const Block &, const float *, std::int64_t, std::int64_t, double *) const;
template void PairLayout::copy_row<float, double>(const float *, std::int64_t, std::int64_t, double *) const;
}
