// The arrays of one chunk of rows while it runs through a chain.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "matlaw/solve/Newton.h"
#include "support/AlignedBuffer.h"

namespace matlaw::aoti
{
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

  /// Of the rows that take substeps
  std::unique_ptr<ChunkWorkspace> substeps;
};
}
