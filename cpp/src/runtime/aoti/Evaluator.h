// Runs a chain over a whole batch: chunk by chunk, on several threads, public layout in and out.
#pragma once

#include <cstdint>
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
class Evaluator
{
public:
  virtual ~Evaluator() = default;
  /// Throws FatalError when substeps are allowed and the artifact has no graphs for the derivatives that are wanted.
  virtual Evaluation evaluate(const Arguments & arguments, Want want, std::int64_t threads) const = 0;
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
