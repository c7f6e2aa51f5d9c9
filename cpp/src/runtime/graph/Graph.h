// One compiled function of flat lists of batch-last arrays.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include "matlaw/native/abi.h"

namespace matlaw::graph
{
/// Shape of one slot without its batch axis, (*base, *sub_batch); of a weight, (*sub_batch, *base).
using Shape = std::vector<std::int64_t>;

/// What the runtime knows of a graph's interface.
struct Signature
{
  std::vector<Shape> inputs;
  std::vector<Shape> outputs;
  at::ScalarType dtype;
  /// Positions of the inputs that are weights: `first_weight` ... `first_weight + weights - 1`
  std::size_t first_weight = 0, weights = 0;

  bool is_weight(std::size_t input) const { return input >= first_weight && input < first_weight + weights; }
};

/// Component c of slot k, row i, is at `((Real *)slot[k])[c * ld + i]`, of a weight at `((Real *)slot[k])[c]` for all
/// rows; weights lie on the graph's device, everything else in the host's memory. Other pointers are aligned to 64
/// bytes, ld is a multiple of native::row_block. Every component of every output is written for every row, blocks that
/// do not depend on the batch too; of the columns past `rows` as many as the graph finds convenient, so that inputs
/// there must be numbers. May be run from many threads at once.
class Graph
{
public:
  virtual ~Graph() = default;
  virtual void run(const void * const * inputs, void * const * outputs, std::int64_t ld, std::int64_t rows) const = 0;

  /// The graph on rows that stand anywhere, see native::InPlaceFunction; null where the graph has none.
  virtual native::InPlaceFunction in_place() const noexcept { return nullptr; }

  /// Newton's method from start to end, see native::SolveFunction; null where the graph has none.
  virtual native::SolveFunction solver() const noexcept { return nullptr; }
};

/// Loads a native kernel. Throws FatalError when the file is not one, or speaks another version of the interface.
std::unique_ptr<Graph> load_native(const std::string & path);

/// Loads a .pt2 package that up to `runners` threads run at once on `device`. Throws FatalError when torch cannot load
/// it.
std::unique_ptr<Graph> load_package(const std::string & path, Signature signature, std::int64_t runners,
                                    const at::Device & device);
}
