#include "aoti/InPlace.h"

#include <algorithm>
#include <cstdint>

#include "aoti/ForwardStage.h"
#include "solve/row_kernels.h"

namespace matlaw::aoti
{
template <typename Real>
InPlace<Real>::InPlace(const Chain<Real> & chain, const std::vector<PairLayout> & pairs, bool derivatives)
{
  const auto * stage = chain.only_forward_stage();
  if (!stage || (derivatives && (!stage->jvp || stage->param_jvp || !stage->sums.empty())))
    return;
  const auto & call = derivatives ? *stage->jvp : stage->value;
  if (call.graph->takes_any_memory() && call.weights.empty() && list(call, chain, pairs))
    _call = &call;
}

/// Where the arguments of the graph come from; false when there is one that the caller does not have.
template <typename Real>
bool InPlace<Real>::list(const Call<Real> & call, const Chain<Real> & chain, const std::vector<PairLayout> & pairs)
{
  const auto find = [](const std::vector<Slot> & slots, const Slot & slot)
  {
    return std::size_t(
        std::find_if(slots.begin(), slots.end(), [&](const Slot & s) { return s.offset == slot.offset; }) -
        slots.begin());
  };
  for (const auto & slot : call.inputs)
    if (const auto k = find(chain.inputs(), slot); k < chain.inputs().size())
      _inputs.push_back({Kind::INPUT, k, slot.size});
    else if (const auto p = find(chain.parameters(), slot); p < chain.parameters().size() && slot.size == 1)
      _inputs.push_back({Kind::PARAMETER, p, slot.size});
    else
      return false;
  std::size_t outputs = 0, blocks = 0;
  for (const auto & slot : call.outputs)
  {
    if (const auto k = find(chain.outputs(), slot); k < chain.outputs().size())
    {
      _outputs.push_back({Kind::OUTPUT, k, slot.size});
      outputs++;
      continue;
    }
    const auto is_block = [&](std::size_t k)
    {
      const auto & block = chain.derivatives()[k];
      return block.kind == Block::Kind::STORED && block.offset == slot.offset && pairs[k].stands_as_compiled(block);
    };
    std::size_t k = 0;
    while (k < pairs.size() && !is_block(k))
      k++;
    if (k == pairs.size())
      return false;
    _outputs.push_back({Kind::BLOCK, k, slot.size});
    blocks++;
  }
  return outputs == chain.outputs().size() && (blocks == pairs.size() || blocks == 0);
}

template <typename Real>
std::int64_t InPlace<Real>::run(BatchCall<Real> & call, std::int64_t first, std::int64_t rows,
                                ChunkWorkspace<Real> & w) const
{
  const auto whole = rows / native::row_block * native::row_block;
  if (!_call || whole == 0 || call.history())
    return 0;
  const auto ld = call.rows();
  const auto aligned = [](const Real * data)
  { return reinterpret_cast<std::uintptr_t>(data) % (sizeof(Real) * native::row_block) == 0; };
  const auto finite = [&](const Real * data, std::int64_t size)
  {
    for (std::int64_t c = 0; c < size; c++)
      if (!solve::all_finite(data + c * ld, whole))
        return false;
    return true;
  };
  if (ld % native::row_block != 0 || first % native::row_block != 0)
    return 0;

  // One value for all rows, or values with gaps, are copied: no more than a row of numbers each.
  Real * copies = w.arena.reserve(std::max<std::size_t>(_inputs.size(), 1) * whole);
  w.graph_inputs.clear();
  for (const auto & argument : _inputs)
  {
    const auto & reader = argument.kind == Kind::INPUT ? call.input(argument.index) : call.parameter(argument.index);
    const Real * data = reader.rows_of_components(ld);
    if (data && aligned(data))
      data += first;
    else if (argument.size == 1)
    {
      reader.read(first, whole, copies, whole);
      data = copies;
      copies += whole;
    }
    else
      return 0;
    if (!finite(data, argument.size))
      return 0;
    w.graph_inputs.push_back(data);
  }
  w.graph_outputs.clear();
  for (const auto & argument : _outputs)
  {
    const auto place = argument.kind == Kind::OUTPUT ? call.output(argument.index) : call.block(argument.index, first);
    const auto from = argument.kind == Kind::OUTPUT ? place.from_row(first) : place;
    if (!from.batch_last() || !aligned(from.data))
      return 0;
    w.graph_outputs.push_back(from.data);
  }
  _call->graph->run(w.graph_inputs.data(), w.graph_outputs.data(), ld, whole);
  for (std::size_t k = 0; k < _outputs.size(); k++)
    if (_outputs[k].kind == Kind::OUTPUT && !finite(static_cast<const Real *>(w.graph_outputs[k]), _outputs[k].size))
      return 0;
  call.keep_sound(first, whole);
  return whole;
}

template class InPlace<double>;
template class InPlace<float>;
}
