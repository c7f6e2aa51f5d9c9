// The one place where the public layout (*B, *sub_batch, *base) meets the internal one (*base, *sub_batch, B).
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

namespace matlaw::runtime
{
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

private:
  const Real * _data;
  /// Offset in elements of each component, row-major over (*base, *sub_batch).
  std::vector<std::int64_t> _components;
  /// Whether component c stands at c.
  bool _consecutive = true;
  /// The batch axes merged as far as strides allow, outermost first.
  std::vector<std::int64_t> _sizes, _strides;
};

/// Writes rows to a contiguous tensor (*B, *sub_batch, *base) that starts at `data`.
template <typename Real>
class RowWriter
{
public:
  RowWriter(Real * data, std::int64_t sub_batch_size, std::int64_t base_size)
      : _data(data),
        _sub_batch_size(sub_batch_size),
        _base_size(base_size)
  {
  }

  /// Copies component c (row-major over (*base, *sub_batch)) of rows [0, rows) from slot[c * ld + i].
  void write(std::int64_t first, std::int64_t rows, const Real * slot, std::int64_t ld) const;

private:
  Real * _data;
  std::int64_t _sub_batch_size, _base_size;
};

/// Where component c (row-major over (*base, *sub_batch)) stands among the components of the public layout.
std::vector<std::int64_t> public_positions(std::int64_t sub_batch_size, std::int64_t base_size);

/// Fills the padding of a slot, columns [rows, ld), with copies of its last row.
template <typename Real>
void pad_rows(Real * slot, std::int64_t components, std::int64_t rows, std::int64_t ld);
}
