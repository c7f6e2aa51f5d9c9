// Checked arguments of one call.
#pragma once

#include <memory>
#include <vector>

#include <ATen/core/Tensor.h>

#include "aoti/call_checks.h"
#include "matlaw/Weights.h"
#include "matlaw/solve/NewtonConfig.h"

namespace matlaw::aoti
{
/// Tensors in the order of metadata.inputs and metadata.parameters.
struct Arguments
{
  std::vector<at::Tensor> inputs;
  std::vector<at::Tensor> parameters;
  BatchShape batch;
  /// Settings of the implicit segments, in order
  std::vector<solve::NewtonConfig> solvers;
  /// Of the whole call; a null pointer for a law without
  std::shared_ptr<const WeightSet> weights;
  /// Fill Evaluation::history, reason and place
  bool history = false;
};
}
