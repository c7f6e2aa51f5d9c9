// The arrays of one chunk of rows while it runs through a chain.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "aoti/CallRecord.h"
#include "matlaw/native/abi.h"
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
  /// Inputs, matrix and right-hand sides of rows that a kernel could not solve for
  support::AlignedBuffer<Real> dense;
  std::vector<std::uint8_t> left_singular;
  /// What a solver in a kernel says, and the rows that a kernel leaves to the general way
  support::AlignedBuffer<Real> report, left_unknowns;
  std::vector<std::int32_t> left;
  std::vector<solve::RowVerdict> left_verdicts;
  std::vector<const void *> graph_inputs;
  std::vector<void *> graph_outputs;
  std::vector<native::Place> places_in, places_out;
  std::vector<const Real *> given_slots;
  std::vector<solve::RowVerdict> segment_verdicts;
  std::vector<std::uint8_t> singular;

  /// Settings of the implicit segments, in order; set by whoever calls Chain::run
  const std::vector<solve::NewtonConfig> * solvers = nullptr;

  /// Where the weights are, by their position among all; set by whoever calls Chain::run
  const void * const * weights = nullptr;

  /// Where the solves write down what they do, a null pointer where nobody asks, and the rows of it that the chunk's
  /// are
  CallRecord * record = nullptr;
  std::vector<std::int64_t> record_rows;
  /// Implicit segments that have run
  std::size_t solves = 0;

  // of the chunk's rows
  std::vector<Status> status;
  std::vector<std::int32_t> iterations;
  std::vector<double> residual;
  std::vector<double> dt_factor;

  /// Of the rows that take substeps
  std::unique_ptr<ChunkWorkspace> substeps;
};
}
