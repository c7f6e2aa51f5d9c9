#include "aoti/InPlace.h"

#include <algorithm>

#include "aoti/ForwardStage.h"

namespace matlaw::aoti
{
namespace
{
/// Whether the components of an output stand in the caller's order in a graph, too.
bool stands_as_compiled(const artifact::Variable & output)
{
  const auto base = output.base_size();
  return base <= 1 || base == output.size;
}
}

template <typename Real>
InPlace<Real>::InPlace(const artifact::Metadata & metadata, const Chain<Real> & chain,
                       const std::vector<PairLayout> & pairs, bool derivatives)
{
  const auto * stage = chain.only_forward_stage();
  if (!stage || (derivatives && (!stage->jvp || stage->param_jvp || !stage->sums.empty())))
    return;
  const auto & call = derivatives ? *stage->jvp : stage->value;
  if (call.graph->in_place() && call.weights.empty() &&
      std::all_of(metadata.outputs.begin(), metadata.outputs.end(), stands_as_compiled) && list(call, chain, pairs))
    _function = call.graph->in_place();
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
      _inputs.push_back({Kind::INPUT, k});
    else if (const auto p = find(chain.parameters(), slot); p < chain.parameters().size())
      _inputs.push_back({Kind::PARAMETER, p});
    else
      return false;
  std::size_t outputs = 0, blocks = 0;
  for (const auto & slot : call.outputs)
  {
    if (const auto k = find(chain.outputs(), slot); k < chain.outputs().size())
    {
      _outputs.push_back({Kind::OUTPUT, k});
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
    if (k == pairs.size() || pairs[k].batch_independent())
      return false;
    _outputs.push_back({Kind::BLOCK, k});
    blocks++;
  }
  return outputs == chain.outputs().size() && (blocks == pairs.size() || blocks == 0);
}

template <typename Real>
std::int64_t InPlace<Real>::run(BatchCall<Real> & call, std::int64_t first, std::int64_t rows,
                                ChunkWorkspace<Real> & w) const
{
  const auto whole = rows / native::row_block * native::row_block;
  if (!_function || whole == 0 || call.history())
    return 0;
  w.places_in.clear();
  for (const auto & argument : _inputs)
  {
    const auto & reader = argument.kind == Kind::INPUT ? call.input(argument.index) : call.parameter(argument.index);
    const auto place = reader.place();
    if (!place)
      return 0;
    w.places_in.push_back({const_cast<Real *>(place->data + first * place->row), place->row, place->component});
  }
  w.places_out.clear();
  for (const auto & argument : _outputs)
  {
    const auto place =
        argument.kind == Kind::OUTPUT ? call.output(argument.index).from_row(first) : call.block(argument.index, first);
    w.places_out.push_back({place.data, place.row, place.component});
  }
  if (!_function(w.places_in.data(), w.places_out.data(), whole))
    return 0;
  call.keep_sound(first, whole);
  return whole;
}

template class InPlace<double>;
template class InPlace<float>;
}
