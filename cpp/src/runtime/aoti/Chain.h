// The chain of segments of a law, resolved to numbered slots: what runs for one chunk of rows.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "aoti/ChunkWorkspace.h"
#include "aoti/Dependence.h"
#include "aoti/Slot.h"
#include "aoti/Stage.h"
#include "aoti/signatures.h"
#include "artifact/Metadata.h"

namespace matlaw::aoti
{
template <typename Real>
struct ForwardStage;

/// Built once per artifact; run() is const and reentrant.
template <typename Real>
class Chain
{
public:
  /// `by` and `start`: what derivatives are by in a run with derivatives, and where they begin. `graphs` must outlive
  /// the chain.
  Chain(const artifact::Metadata & metadata, const Graphs & graphs, By by = By::INPUTS, Start start = Start::SEEDS);

  const std::vector<Slot> & inputs() const { return _inputs; }
  const std::vector<Slot> & parameters() const { return _parameters; }
  const std::vector<Slot> & outputs() const { return _outputs; }
  /// One per entry of metadata.derivatives, or of metadata.param_derivatives; with Start::GIVEN one per output and seed
  const std::vector<Block> & derivatives() const { return _derivatives; }
  /// With Start::GIVEN: where the caller puts the derivatives of each input before a run, (its size, all seeds)
  const std::vector<Slot> & carried() const { return _carried; }
  const std::vector<std::int64_t> & seed_sizes() const { return _seed_sizes; }
  /// The stage of a law that is one forward segment; a null pointer for others.
  const ForwardStage<Real> * only_forward_stage() const { return _only_forward_stage; }
  /// Components of the arena of a run with or without derivatives.
  std::int64_t arena_size(bool derivatives) const { return derivatives ? _arena_with_derivatives : _arena_values; }
  /// Components that a chunk touches besides the arena.
  std::int64_t scratch_size() const { return _scratch; }
  /// ... in arrays that few runs fill.
  std::int64_t rare_size(bool derivatives) const;

  /// Runs the segments over the inputs and parameters that the caller has put into the arena, all `ld` columns of
  /// them (ld a multiple of native::row_block; columns past `rows` are padding), and fills the per-row entries of `w`.
  void run(ChunkWorkspace<Real> & w, std::int64_t ld, std::int64_t rows, bool derivatives) const;

private:
  std::vector<Slot> _inputs, _parameters, _outputs, _carried;
  std::vector<std::int64_t> _seed_sizes;
  std::vector<Block> _derivatives;
  std::vector<std::unique_ptr<Stage<Real>>> _stages;
  const ForwardStage<Real> * _only_forward_stage = nullptr;
  std::int64_t _arena_values = 0, _arena_with_derivatives = 0, _scratch = 0;
};

extern template class Chain<double>;
extern template class Chain<float>;
}
