#include "on_device.h"

namespace matlaw
{
void move_to(TensorMap & tensors, const at::Device & device)
{
  for (auto & [name, tensor] : tensors)
    tensor = tensor.to(device);
}

void move_to(BlockMap & blocks, const at::Device & device)
{
  for (auto & [name, row] : blocks)
    move_to(row, device);
}

void move_to(std::pair<TensorMap, TensorMap> & both, const at::Device & device)
{
  move_to(both.first, device);
  move_to(both.second, device);
}

void move_to(Evaluation & evaluation, const at::Device & device)
{
  move_to(evaluation.outputs, device);
  move_to(evaluation.jacobian, device);
  const auto move = [&](at::Tensor & tensor)
  {
    if (tensor.defined())
      tensor = tensor.to(device);
  };
  for (auto * tensor : {&evaluation.status, &evaluation.iterations, &evaluation.substeps, &evaluation.dt_factor,
                        &evaluation.residual, &evaluation.reason, &evaluation.place})
    move(*tensor);
  for (auto & segment : evaluation.history)
  {
    move(segment.residual);
    move(segment.step);
  }
}
}
