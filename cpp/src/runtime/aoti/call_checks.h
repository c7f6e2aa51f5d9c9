// Checks of what a host hands over: every mistake has a name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "artifact/Metadata.h"
#include "matlaw/Model.h"

namespace matlaw::aoti
{
/// Throws FatalError unless `value` is a dense tensor (*B, *sub_batch, *base) of the dtype on the device. `what` names
/// it ("Input", "Tangent", "Parameter").
void check_tensor(const std::string & what, const artifact::Variable & variable, const at::Tensor & value,
                  at::ScalarType dtype, const at::Device & device = at::kCPU);

/// The batch axes of a checked tensor.
std::vector<std::int64_t> batch_shape(const artifact::Variable & variable, const at::Tensor & value);

/// Broadcasts batch shapes together; throws FatalError naming the two that do not fit.
class BatchShape
{
public:
  void join(const std::string & name, const std::vector<std::int64_t> & shape);
  const std::vector<std::int64_t> & shape() const { return _shape; }
  /// Flattened
  std::int64_t rows() const;

private:
  std::vector<std::int64_t> _shape;
  /// Who gave the extent of each axis
  std::vector<std::string> _names;
};

/// Throws FatalError for a name in `given` that is not in `known`, and when `all` for one in `known` that is not given.
void check_names(const std::string & what, const std::string & model, const TensorMap & given,
                 const std::vector<std::string> & known, bool all);
}
