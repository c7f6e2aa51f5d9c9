#include "aoti/GuardedChain.h"

#include <algorithm>
#include <limits>

#include "aoti/CompiledStep.h"
#include "aoti/ForwardStage.h"
#include "solve/row_kernels.h"

namespace matlaw::aoti
{
template <typename Real>
GuardedChain<Real>::GuardedChain(const artifact::Metadata & metadata, const Chain<Real> & chain) : _chain(chain)
{
  const auto position = [&](const std::string & name)
  {
    const auto & inputs = metadata.inputs;
    return std::size_t(
        std::find_if(inputs.begin(), inputs.end(), [&](const auto & input) { return input.name == name; }) -
        inputs.begin());
  };
  for (const auto & [current, old] : metadata.times)
    _times.emplace_back(position(current), position(old));
}

template <typename Real>
bool GuardedChain<Real>::run_sound(const Chain<Real> & chain, ChunkWorkspace<Real> & w, std::int64_t ld,
                                   std::int64_t rows, bool derivatives) const
{
  const auto * stage = chain.only_forward_stage();
  const Real * arena = w.arena.data();
  const auto finite = [&](const Slot & slot) { return solve::all_finite(arena + slot.offset * ld, slot.size * ld); };
  const auto all_finite = [&](const std::vector<Slot> & slots)
  { return std::all_of(slots.begin(), slots.end(), finite); };
  if (!stage || !all_finite(_chain.inputs()) || !all_finite(_chain.parameters()))
    return false;
  stage->run(w, ld, rows, derivatives);
  return all_finite(_chain.outputs());
}

template <typename Real>
void GuardedChain<Real>::run(const Chain<Real> & chain, ChunkWorkspace<Real> & w, std::int64_t ld, std::int64_t rows,
                             bool derivatives) const
{
  const auto bad = bad_rows(w, ld, rows);
  if (bad.empty() || replace(w, ld, rows, bad))
    chain.run(w, ld, rows, derivatives);
  else
  {
    w.status.assign(rows, Status::BAD_INPUT);
    w.iterations.assign(rows, 0);
    w.residual.assign(rows, 0.0);
    w.dt_factor.assign(rows, 0.5);
  }
  for (std::size_t i = 0; i < bad.size(); i++)
    if (bad[i])
    {
      w.status[i] = Status::BAD_INPUT;
      w.iterations[i] = 0;
      w.residual[i] = std::numeric_limits<double>::quiet_NaN();
      w.dt_factor[i] = 0.5;
      if (w.record)
        w.record->overrule(w.record_rows[i], Reason::INPUT_NOT_FINITE, -1);
    }
  fail_non_finite(_chain, w, ld, rows);
  blame_time(w, ld, rows);
}

/// Rows with a non-finite input or parameter; empty when there are none.
template <typename Real>
std::vector<std::uint8_t> GuardedChain<Real>::bad_rows(const ChunkWorkspace<Real> & w, std::int64_t ld,
                                                       std::int64_t rows) const
{
  const Real * arena = w.arena.data();
  std::vector<std::uint8_t> bad;
  for (const auto * slots : {&_chain.inputs(), &_chain.parameters()})
    for (const auto & slot : *slots)
    {
      const Real * values = arena + slot.offset * ld;
      if (solve::all_finite(values, slot.size * ld))
        continue;
      bad.resize(rows, 0);
      for (std::int64_t c = 0; c < slot.size; c++)
        for (std::int64_t i = 0; i < rows; i++)
          bad[i] |= !(values[c * ld + i] - values[c * ld + i] == 0);
    }
  return bad;
}

/// Puts a sound row in the place of each bad one. False when there is none.
template <typename Real>
bool GuardedChain<Real>::replace(ChunkWorkspace<Real> & w, std::int64_t ld, std::int64_t rows,
                                 const std::vector<std::uint8_t> & bad) const
{
  const auto sound = std::find(bad.begin(), bad.end(), 0) - bad.begin();
  if (sound == rows)
    return false;
  for (const auto * slots : {&_chain.inputs(), &_chain.parameters()})
    for (const auto & slot : *slots)
      for (std::int64_t c = 0; c < slot.size; c++)
      {
        Real * component = w.arena.data() + (slot.offset + c) * ld;
        for (std::int64_t i = 0; i < rows; i++)
          component[i] = bad[i] ? component[sound] : component[i];
        std::fill(component + rows, component + ld, component[rows - 1]);
      }
  return true;
}

/// A row that failed while its time does not advance: no smaller step will do.
template <typename Real>
void GuardedChain<Real>::blame_time(ChunkWorkspace<Real> & w, std::int64_t ld, std::int64_t rows) const
{
  if (std::find(w.status.begin(), w.status.end(), Status::NOT_CONVERGED) == w.status.end())
    return;
  for (const auto & [current, old] : _times)
  {
    const auto & slot = _chain.inputs()[current];
    const Real * now = w.arena.data() + slot.offset * ld;
    const Real * before = w.arena.data() + _chain.inputs()[old].offset * ld;
    for (std::int64_t c = 0; c < slot.size; c++)
      for (std::int64_t i = 0; i < rows; i++)
        if (w.status[i] == Status::NOT_CONVERGED && now[c * ld + i] <= before[c * ld + i])
        {
          w.status[i] = Status::BAD_INPUT;
          if (w.record)
            w.record->overrule(w.record_rows[i], Reason::TIME_DOES_NOT_ADVANCE, std::int64_t(current));
        }
  }
}

template class GuardedChain<double>;
template class GuardedChain<float>;
}
