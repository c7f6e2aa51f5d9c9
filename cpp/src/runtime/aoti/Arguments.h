// Checked arguments of one call.
#pragma once

#include <vector>

#include <ATen/core/Tensor.h>

#include "aoti/call_checks.h"
#include "matlaw/solve/NewtonConfig.h"

namespace matlaw::aoti
{
/// Tensors in the order of metadata.inputs and metadata.parameters.
struct Arguments
{
  std::vector<at::Tensor> inputs;
  std::vector<at::Tensor> parameters;
  BatchShape batch;
  solve::NewtonConfig solver;
  /// Fill Evaluation::history, reason and place
  bool history = false;
};
}
