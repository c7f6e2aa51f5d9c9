#include "aoti/Chain.h"

#include <algorithm>

#include "aoti/DerivativeBuilder.h"
#include "aoti/ForwardStage.h"
#include "aoti/ValueBuilder.h"

namespace matlaw::aoti
{
template <typename Real>
Chain<Real>::Chain(const artifact::Metadata & metadata, const Graphs & graphs, By by, Start start)
{
  const Names names(metadata);
  SlotAllocator allocator;
  ValueBuilder<Real> values(metadata, graphs, names, allocator);
  _stages = values.build();
  if (_stages.size() == 1)
    _only_forward_stage = dynamic_cast<const ForwardStage<Real> *>(_stages[0].get());
  _inputs = values.inputs;
  _parameters = values.parameters;
  _outputs = values.outputs;
  _scratch = values.scratch;
  // Slots of values first: a call without derivatives then needs only the front of the arena.
  _arena_values = allocator.size();
  DerivativeBuilder<Real> derivatives(metadata, graphs, names, by, start, allocator);
  _derivatives = derivatives.build(_stages);
  _carried = derivatives.given;
  _seed_sizes = derivatives.seed_sizes;
  _arena_with_derivatives = allocator.size();
}

template <typename Real>
std::int64_t Chain<Real>::rare_size(bool derivatives) const
{
  std::int64_t most = 0;
  for (const auto & stage : _stages)
    most = std::max(most, stage->rare_components(derivatives));
  return most;
}

template <typename Real>
void Chain<Real>::run(ChunkWorkspace<Real> & w, std::int64_t ld, std::int64_t rows, bool derivatives) const
{
  w.iterations.assign(rows, 0);
  w.residual.assign(rows, 0.0);
  w.dt_factor.assign(rows, 1.0);
  w.status.assign(rows, Status::CONVERGED);
  w.solves = 0;
  if (w.record)
    w.record->restart(w.record_rows);
  for (const auto & stage : _stages)
    stage->run(w, ld, rows, derivatives);
}

template class Chain<double>;
template class Chain<float>;
}
