#include "aoti/ModelImplementation.h"

namespace matlaw::aoti
{
std::shared_ptr<const WeightSet> Model::Implementation::weights_in_use() const
{
  const std::lock_guard lock(weights_mutex);
  return weights;
}

const std::vector<WeightInfo> & Model::weight_infos() const
{
  return _implementation->weight_infos;
}

std::shared_ptr<const WeightSet> Model::weights() const
{
  return _implementation->weights_in_use();
}

std::uint64_t Model::install_weights(std::shared_ptr<WeightSet> weights)
{
  auto & self = *_implementation;
  if (!weights || self.weight_infos.empty() || weights->pointers.size() != self.weight_infos.size())
    throw FatalError("install_weights of model '" + name() + "' takes what its prepare_weights gave.");
  // What is replaced is freed without the lock, by whoever held it last.
  std::shared_ptr<const WeightSet> old;
  const std::lock_guard lock(self.weights_mutex);
  old = self.weights;
  const auto version = weights->version = old->version + 1;
  self.weights = std::move(weights);
  return version;
}
}
