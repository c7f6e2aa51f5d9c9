// The chain of segments of a law, resolved to numbered slots: what runs for one chunk of rows.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "artifact/Metadata.h"
#include "graph/Graph.h"
#include "matlaw/solve/Newton.h"
#include "solve/multiply.h"
#include "support/AlignedBuffer.h"

namespace matlaw::aoti
{
using Graphs = std::map<std::string, std::unique_ptr<graph::Graph>>;

/// Shapes of every graph's slots, keyed by stem.
std::map<std::string, graph::Signature> signatures(const artifact::Metadata & metadata, at::ScalarType dtype);

/// A block of components in the arena of a chunk: component c of row i is at arena[(offset + c) * ld + i].
struct Slot
{
  std::int64_t offset = 0;
  std::int64_t size = 0;
};

/// Where the derivative of a variable by a master input is.
struct Block
{
  enum class Kind
  {
    ZERO,
    IDENTITY,
    STORED
  };
  Kind kind = Kind::ZERO;
  /// First component, and distance between rows of the matrix, in components
  std::int64_t offset = 0;
  std::int64_t stride = 0;
};

/// What derivatives are by.
enum class By : std::uint8_t
{
  INPUTS,
  PARAMETERS
};

/// Arrays of one chunk on one thread; reused from call to call.
template <typename Real>
struct ChunkWorkspace
{
  support::AlignedBuffer<Real> arena;
  support::AlignedBuffer<Real> givens, givens_next;
  std::vector<const void *> graph_inputs;
  std::vector<void *> graph_outputs;
  std::vector<const Real *> given_slots;
  std::vector<solve::RowVerdict> segment_verdicts;
  std::vector<std::uint8_t> singular;

  /// Of the Newton solves; set by whoever calls Chain::run
  solve::NewtonConfig solver;

  // of the chunk's rows
  std::vector<Status> status;
  std::vector<std::int32_t> iterations;
  std::vector<double> residual;
  std::vector<double> dt_factor;
};

/// Built once per artifact; run() is const and reentrant.
template <typename Real>
class Chain
{
public:
  /// `by`: what derivatives are by in a run with derivatives.
  Chain(const artifact::Metadata & metadata, const Graphs & graphs, By by = By::INPUTS);
  ~Chain();

  const std::vector<Slot> & inputs() const { return _inputs; }
  const std::vector<Slot> & parameters() const { return _parameters; }
  const std::vector<Slot> & outputs() const { return _outputs; }
  /// One per entry of metadata.derivatives, or of metadata.param_derivatives
  const std::vector<Block> & derivatives() const { return _derivatives; }
  /// Components of the arena of a run with or without derivatives.
  std::int64_t arena_size(bool derivatives) const { return derivatives ? _arena_with_derivatives : _arena_values; }
  /// Components that a chunk touches besides the arena.
  std::int64_t scratch_size() const { return _scratch; }

  /// Runs the segments over the inputs and parameters that the caller has put into the arena, all `ld` columns of
  /// them (ld a multiple of native::row_block; columns past `rows` are padding), and fills the per-row entries of `w`.
  void run(ChunkWorkspace<Real> & w, std::int64_t ld, std::int64_t rows, bool derivatives) const;

private:
  struct Builder;
  struct Stage;
  struct ForwardStage;
  struct ImplicitStage;

  std::vector<Slot> _inputs, _parameters, _outputs;
  std::vector<Block> _derivatives;
  std::vector<std::unique_ptr<Stage>> _stages;
  std::int64_t _arena_values = 0, _arena_with_derivatives = 0, _scratch = 0;
};
}
