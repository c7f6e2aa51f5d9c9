// Builds the stages of a chain, as far as values go.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "aoti/Names.h"
#include "aoti/SlotAllocator.h"
#include "aoti/Stage.h"
#include "aoti/signatures.h"

namespace matlaw::aoti
{
/// References must outlive the builder.
template <typename Real>
class ValueBuilder
{
public:
  ValueBuilder(const artifact::Metadata & metadata, const Graphs & graphs, const Names & names,
               SlotAllocator & allocator);

  /// One stage per segment, in order: a ForwardStage or an ImplicitStage.
  std::vector<std::unique_ptr<Stage<Real>>> build();

  std::vector<Slot> inputs, parameters, outputs;
  /// Components that a chunk touches besides the arena
  std::int64_t scratch = 0;

private:
  std::unique_ptr<Stage<Real>> forward(const artifact::Segment & segment);
  std::unique_ptr<Stage<Real>> implicit(const artifact::Segment & segment);
  std::vector<std::size_t> weights_of(const artifact::Segment & segment) const;
  std::vector<Slot> slots_of(const std::vector<std::string> & variables, const artifact::Segment & segment) const;

  const artifact::Metadata & _metadata;
  const Graphs & _graphs;
  const Names & _names;
  SlotAllocator & _allocator;
  /// Where the current value of a name is; a segment may compute a name anew.
  std::map<std::string, Slot> _slots;
  std::map<std::string, Slot> _parameter_slots;
};

extern template class ValueBuilder<double>;
extern template class ValueBuilder<float>;
}
