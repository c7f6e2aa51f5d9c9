// The shapes of what the graphs of an artifact read and write.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "artifact/Metadata.h"
#include "graph/Graph.h"

namespace matlaw::aoti
{
using Graphs = std::map<std::string, std::unique_ptr<graph::Graph>>;

/// Shapes of every graph's slots, keyed by stem.
std::map<std::string, graph::Signature> signatures(const artifact::Metadata & metadata, at::ScalarType dtype);
}
