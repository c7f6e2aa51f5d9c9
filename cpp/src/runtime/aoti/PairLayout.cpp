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
void PairLayout::copy(const Block & block, const Real * arena, std::int64_t ld, std::int64_t rows,
                      runtime::RowPlace<To> to) const
{
  const auto p = _output->size, r = _input->size;
  if (block.kind != Block::Kind::STORED)
  {
    const auto identity = block.kind == Block::Kind::IDENTITY;
    for (std::int64_t i = 0; i < rows; i++)
      for (std::int64_t c = 0; c < p * r; c++)
        to.at(i, c) = identity && c / r == c % r ? To(1) : To(0);
    return;
  }
  if constexpr (std::is_same_v<Real, To>)
    if (_plain && !to.batch_last())
    {
      // As many entries at once as stand side by side on both sides.
      const auto whole = block.stride == r;
      for (std::int64_t i = 0; i < (whole ? 1 : p); i++)
        runtime::components_to_rows(arena + (block.offset + i * block.stride) * ld, ld, whole ? p * r : r, rows,
                                    &to.at(0, i * r), to.row);
      return;
    }
  const auto tile = to.batch_last() ? rows : 8;
  for (std::int64_t row = 0; row < rows; row += tile)
  {
    const auto height = std::min(tile, rows - row);
    for (std::int64_t i = 0; i < p; i++)
      for (std::int64_t j = 0; j < r; j++)
      {
        const Real * from = arena + (block.offset + i * block.stride + j) * ld + row;
        To * place = &to.at(row, _rows[i] * r + _columns[j]);
        if (to.batch_last())
          std::copy_n(from, height, place);
        else
          for (std::int64_t h = 0; h < height; h++)
            place[h * to.row] = To(from[h]);
      }
  }
}

template <typename Real, typename To>
void PairLayout::copy_row(const Real * from, std::int64_t columns, std::int64_t ld, runtime::RowPlace<To> to) const
{
  const auto p = _output->size, r = _input->size;
  for (std::int64_t i = 0; i < p; i++)
    for (std::int64_t j = 0; j < r; j++)
      to.at(0, _rows[i] * r + _columns[j]) = To(from[(i * columns + j) * ld]);
}

#define MATLAW_INSTANTIATE(Real, To)                                                                                   \
  template void PairLayout::copy<Real, To>(const Block &, const Real *, std::int64_t, std::int64_t,                    \
                                           runtime::RowPlace<To>) const;                                               \
  template void PairLayout::copy_row<Real, To>(const Real *, std::int64_t, std::int64_t, runtime::RowPlace<To>) const;
MATLAW_INSTANTIATE(double, double)
MATLAW_INSTANTIATE(float, float)
MATLAW_INSTANTIATE(float, double)
#undef MATLAW_INSTANTIATE
}
