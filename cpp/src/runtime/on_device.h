// Results of calls, moved to a device.
#pragma once

#include <utility>

#include <ATen/core/Tensor.h>

#include "matlaw/Model.h"

namespace matlaw
{
void move_to(TensorMap & tensors, const at::Device & device);
void move_to(BlockMap & blocks, const at::Device & device);
void move_to(std::pair<TensorMap, TensorMap> & both, const at::Device & device);
/// All that an evaluation holds: verdicts and history as well.
void move_to(Evaluation & evaluation, const at::Device & device);
}
