// A host that knows nothing of torch.
#pragma once

#include <vector>

#include "matlaw/host/QuadratureBatch.h"

namespace matlaw::toy
{
/// Runs and commits a step of the toy law; returns the stress, empty when a point failed.
std::vector<double> one_step(host::QuadratureBatch & batch, const std::vector<double> & strain);
}
