// What is checked before a law takes weights.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "matlaw/Model.h"
#include "matlaw/Weights.h"

namespace matlaw::weights
{
/// A set of weights for a law on `device`, without a version. Throws FatalError that names the weight, when one is
/// missing or not the law's, has another shape or dtype, or holds NaN or an infinity; nothing is kept then.
std::shared_ptr<WeightSet> checked_set(const std::string & model, const std::vector<WeightInfo> & infos,
                                       at::ScalarType dtype, const at::Device & device, const TensorMap & tensors,
                                       const WeightOptions & options);
}
