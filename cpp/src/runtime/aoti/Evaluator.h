// Runs a chain over a whole batch: chunk by chunk, on several threads, public layout in and out.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "aoti/Arguments.h"
#include "aoti/Chain.h"
#include "aoti/ChunkPlan.h"
#include "aoti/Want.h"
#include "artifact/Metadata.h"
#include "matlaw/Model.h"
#include "matlaw/aoti/Model.h"

namespace matlaw::aoti
{
/// Takes the derivatives of rows [first, first + rows): `blocks[output][input]` is (rows or more, *out, *in), or
/// (*out, *in) where all rows have the same.
using TakeBlocks = std::function<void(std::int64_t first, std::int64_t rows, const BlockMap & blocks)>;

class Evaluator
{
public:
  virtual ~Evaluator() = default;
  /// Throws FatalError when substeps are allowed and the artifact has no graphs for the derivatives that are wanted.
  /// With `take` derivatives go there, some rows after the other, on the calling thread; Evaluation::jacobian is then
  /// left with those of the last ones.
  virtual Evaluation evaluate(const Arguments & arguments, Want want, std::int64_t threads,
                              const TakeBlocks & take = {}) const = 0;
  /// Bytes of the chunks that a call with `threads` threads has at once, whatever it wants.
  virtual std::int64_t memory_per_call(std::int64_t threads,
                                       const std::vector<solve::NewtonConfig> & solvers) const = 0;
  /// Throws FatalError when a call with these settings has no room in chunking.max_bytes.
  virtual void require_room(const std::vector<solve::NewtonConfig> & solvers) const = 0;
  /// See Model::evaluate_point; `parameters` have one value each, in the order of metadata.parameters.
  virtual PointVerdict evaluate_point(const std::vector<at::Tensor> & parameters,
                                      const std::vector<solve::NewtonConfig> & solvers, const WeightSet * weights,
                                      const double * inputs, double * outputs, double * jacobian) const = 0;
};

/// `metadata` and `graphs` must outlive the evaluator.
std::unique_ptr<Evaluator> make_evaluator(const artifact::Metadata & metadata, const Graphs & graphs,
                                          at::ScalarType dtype, const Chunking & chunking);
}
