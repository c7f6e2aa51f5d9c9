// A graph bound to its places in the arena.
#pragma once

#include <vector>

#include "aoti/ChunkWorkspace.h"
#include "aoti/Slot.h"
#include "graph/Graph.h"

namespace matlaw::aoti
{
/// A graph with the slots that it reads and writes.
template <typename Real>
struct Call
{
  const graph::Graph * graph = nullptr;
  std::vector<Slot> inputs, outputs;
  /// Behind the inputs: weights, by their position among all
  std::vector<std::size_t> weights = {};

  void run(ChunkWorkspace<Real> & w, std::int64_t ld) const
  {
    Real * arena = w.arena.data();
    w.graph_inputs.clear();
    w.graph_outputs.clear();
    for (const auto & slot : inputs)
      w.graph_inputs.push_back(arena + slot.offset * ld);
    for (const auto k : weights)
      w.graph_inputs.push_back(w.weights[k]);
    for (const auto & slot : outputs)
      w.graph_outputs.push_back(arena + slot.offset * ld);
    graph->run(w.graph_inputs.data(), w.graph_outputs.data(), ld, ld);
  }
};
}
