// One call for a batch: where its rows are read from and what becomes of them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "aoti/Arguments.h"
#include "aoti/CallRecord.h"
#include "aoti/Chain.h"
#include "aoti/PairLayout.h"
#include "aoti/Substeps.h"
#include "artifact/Metadata.h"
#include "layout.h"
#include "matlaw/Model.h"

namespace matlaw::aoti
{
/// Chunks of rows may be read and written by several threads at once. What is passed in must outlive the call.
///
/// Results lie in memory as the inputs do: where all inputs that have several components, and differ from row to row,
/// have the rows of a component next to each other, so have outputs and derivatives.
template <typename Real>
class BatchCall
{
public:
  /// `pairs`: derivatives that are wanted; of those that are the same for all rows `constants` has the block, at their
  /// place. `block_rows`: derivatives are kept for so many rows at a time, a flat batch, instead of for all.
  BatchCall(const artifact::Metadata & metadata, const Arguments & arguments, at::ScalarType dtype,
            const std::vector<PairLayout> & pairs, const std::vector<at::Tensor> & constants,
            std::optional<std::int64_t> block_rows = std::nullopt);

  std::int64_t rows() const { return _rows; }
  const std::vector<solve::NewtonConfig> & solvers() const { return _arguments.solvers; }

  const runtime::RowReader<Real> & input(std::size_t k) const { return _readers[k]; }
  const runtime::RowReader<Real> & parameter(std::size_t k) const { return _readers[_metadata.inputs.size() + k]; }
  const runtime::RowPlace<Real> & output(std::size_t k) const { return _outputs[k]; }
  /// From a row on; no place for a block that is the same for all rows.
  runtime::RowPlace<Real> block(std::size_t pair, std::int64_t row) const
  {
    return _blocks[pair].from_row(row - _first_block);
  }
  /// Whether somebody wants to know how solves went.
  bool history() const { return _record.has_value(); }
  /// Rows whose outputs and blocks are in their places, without a solve.
  void keep_sound(std::int64_t first, std::int64_t rows);

  /// Puts rows [first, first + rows) into the arena of a chunk, and tells it where to write down what they do.
  void read(std::int64_t first, std::int64_t rows, const Chain<Real> & chain, ChunkWorkspace<Real> & w,
            std::int64_t ld);
  /// Takes over what `chain` made of them, which all are sound.
  void write_sound(std::int64_t first, std::int64_t rows, const Chain<Real> & chain, const ChunkWorkspace<Real> & w,
                   std::int64_t ld);
  /// Takes over what `chain` made of them; what failed becomes NaN.
  void write(std::int64_t first, std::int64_t rows, const Chain<Real> & chain, const ChunkWorkspace<Real> & w,
             std::int64_t ld);
  /// ... and what became, in `substeps`, of those that had failed. `first_row` is the first one of the chunk.
  void write(std::int64_t first_row, const SubsteppedRows<Real> & taken, const Substeps<Real> & substeps, Want want);

  /// Derivatives that are kept from now on are those of the rows from `first` on.
  void keep_blocks_from(std::int64_t first) { _first_block = first; }
  const BlockMap & blocks() const { return _evaluation.jacobian; }

  Evaluation finish();

private:
  void write_results(std::int64_t first, std::int64_t rows, const Chain<Real> & chain, const ChunkWorkspace<Real> & w,
                     std::int64_t ld);
  bool batch_last_inputs() const;
  runtime::RowWriter<Real> writer(std::size_t output) const;
  void blank(std::int64_t row);

  const artifact::Metadata & _metadata;
  const Arguments & _arguments;
  const std::vector<PairLayout> & _pairs;
  std::int64_t _rows;
  /// Row whose blocks stand first
  std::int64_t _first_block = 0;
  std::vector<runtime::RowReader<Real>> _readers;
  /// A block that is the same for all rows is no place here: it is known already.
  std::vector<runtime::RowPlace<Real>> _outputs, _blocks;
  std::int8_t * _status;
  std::int32_t * _iterations;
  std::int32_t * _substeps;
  double * _dt_factor;
  double * _residual;
  std::optional<CallRecord> _record;
  Evaluation _evaluation;
};

extern template class BatchCall<double>;
extern template class BatchCall<float>;
}
