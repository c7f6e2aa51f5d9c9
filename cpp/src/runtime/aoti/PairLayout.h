// A derivative that was compiled, and where its entries stand in the block that a caller gets.
#pragma once

#include <cstdint>
#include <vector>

#include "aoti/Slot.h"
#include "artifact/Metadata.h"
#include "layout.h"

namespace matlaw::aoti
{
/// `output` and `input` (which may be a parameter) must outlive it.
class PairLayout
{
public:
  PairLayout(const artifact::Variable & output, const artifact::Variable & input, bool batch_independent);

  const artifact::Variable & output() const { return *_output; }
  const artifact::Variable & input() const { return *_input; }
  /// One block for all rows
  bool batch_independent() const { return _batch_independent; }
  /// Of a block, without the batch.
  std::vector<std::int64_t> shape() const;
  /// Entries of a block
  std::int64_t size() const { return _output->size * _input->size; }

  /// Whether a derivative in the arena has its entries in the caller's order.
  bool stands_as_compiled(const Block & block) const { return _plain && block.stride == _input->size; }

  /// Copies a derivative of `rows` rows from the arena; components are row-major over *shape() where they go.
  template <typename Real, typename To>
  void copy(const Block & block, const Real * arena, std::int64_t ld, std::int64_t rows,
            runtime::RowPlace<To> to) const;
  /// Copies that of one row, of which entry (i, j) is at from[(i * columns + j) * ld].
  template <typename Real, typename To>
  void copy_row(const Real * from, std::int64_t columns, std::int64_t ld, runtime::RowPlace<To> to) const;

private:
  const artifact::Variable * _output;
  const artifact::Variable * _input;
  bool _batch_independent;
  /// Where each row and column of a block in the arena stands in the caller's.
  std::vector<std::int64_t> _rows, _columns;
  /// Whether rows and columns stand in their places already.
  bool _plain;
};
}
