// Lets the stages of a chain carry derivatives.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "aoti/Dependence.h"
#include "aoti/ForwardStage.h"
#include "aoti/ImplicitStage.h"
#include "aoti/Names.h"
#include "aoti/SlotAllocator.h"
#include "aoti/signatures.h"

namespace matlaw::aoti
{
/// Adds to each stage what it needs to compute D[variable][seed] from those before it. References must outlive it.
template <typename Real>
class DerivativeBuilder
{
public:
  DerivativeBuilder(const artifact::Metadata & metadata, const Graphs & graphs, const Names & names, By by, Start start,
                    SlotAllocator & allocator);

  /// `stages`: one per segment. Returns one block per requested derivative.
  std::vector<Block> build(const std::vector<std::unique_ptr<Stage<Real>>> & stages);

  /// With Start::GIVEN: where the caller puts the derivatives of each master input, (its size, all seeds)
  std::vector<Slot> given;
  std::vector<std::int64_t> seed_sizes;

private:
  using Blocks = std::map<std::string, std::map<std::string, Block>>;

  void begin();
  void forward(std::size_t index, ForwardStage<Real> & stage);
  void implicit(std::size_t index, ImplicitStage<Real> & stage);
  void sparse(const artifact::Segment & segment, const graph::Graph & kernel, const std::set<std::string> & seeds,
              ImplicitStage<Real> & stage);
  bool uses(std::size_t index, const std::vector<artifact::Pair> & pairs);
  void replace(const artifact::Segment & segment, Blocks fresh);

  const artifact::Metadata & _metadata;
  const Graphs & _graphs;
  const Names & _names;
  SlotAllocator & _allocator;
  Dependence _dependence;
  Blocks _derivatives;
  std::map<std::string, std::int64_t> _seed_size;
};

extern template class DerivativeBuilder<double>;
extern template class DerivativeBuilder<float>;
}
