// The one place where the public layout (*B, *sub_batch, *base) meets the internal one (*base, *sub_batch, B).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>
#include <c10/util/SmallVector.h>

namespace matlaw::runtime
{
/// Where the components of rows stand: component c of row i at data[i * row + c * component]. Hosts have one of the two
/// next to each other: the components of a row (batch first), or the rows of a component (batch last).
template <typename Real>
struct RowPlace
{
  Real * data = nullptr;
  std::int64_t row = 0, component = 1;

  bool batch_last() const { return row == 1; }
  Real & at(std::int64_t i, std::int64_t c) const { return data[i * row + c * component]; }
  RowPlace from_row(std::int64_t first) const { return {data + first * row, row, component}; }
};

/// Reads rows of a tensor in the public layout, whatever its strides.
template <typename Real>
class RowReader
{
public:
  /// `tensor` is (*batch', *sub_batch, *base) with batch' broadcastable to `batch`; it must outlive the reader.
  RowReader(const at::Tensor & tensor, const std::vector<std::int64_t> & batch,
            const std::vector<std::int64_t> & sub_batch, const std::vector<std::int64_t> & base);

  /// Copies flattened rows [first, first + rows) to `slot`, component c of row i at slot[c * ld + i].
  void read(std::int64_t first, std::int64_t rows, Real * slot, std::int64_t ld) const;

  /// Whether the rows of each component stand next to each other, and there are several of both.
  bool batch_last() const { return _components.size() > 1 && _sizes.size() == 1 && _sizes[0] > 1 && _strides[0] == 1; }
  /// Whether all rows have the same value.
  bool same_for_all() const { return _sizes.size() == 1 && _strides[0] == 0; }
  bool scalar() const { return _components.size() == 1; }
  /// Where the rows stand, all with row 0 when they have the same value; nothing where there is no such rule.
  std::optional<RowPlace<const Real>> place() const;

private:
  const Real * _data;
  /// Offset in elements of each component, row-major over (*base, *sub_batch). These lists are short as a rule, and
  /// then no memory is allocated for them.
  c10::SmallVector<std::int64_t, 8> _components;
  /// Whether component c stands at c.
  bool _consecutive = true;
  /// The batch axes merged as far as strides allow, outermost first.
  c10::SmallVector<std::int64_t, 4> _sizes, _strides;
};

/// Writes rows of a variable, whose components are row-major over (*sub_batch, *base) where they are written.
template <typename Real>
class RowWriter
{
public:
  RowWriter(RowPlace<Real> place, std::int64_t sub_batch_size, std::int64_t base_size)
      : _place(place),
        _sub_batch_size(sub_batch_size),
        _base_size(base_size)
  {
  }

  /// Copies component c (row-major over (*base, *sub_batch)) of rows [0, rows) from slot[c * ld + i] to rows from
  /// `first` on.
  void write(std::int64_t first, std::int64_t rows, const Real * slot, std::int64_t ld) const;

private:
  RowPlace<Real> _place;
  std::int64_t _sub_batch_size, _base_size;
};

/// Where component c (row-major over (*base, *sub_batch)) stands among the components of the public layout.
std::vector<std::int64_t> public_positions(std::int64_t sub_batch_size, std::int64_t base_size);
}
