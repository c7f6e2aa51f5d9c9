// Checks of what a host hands over: every mistake has a name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "artifact/Metadata.h"
#include "matlaw/Model.h"

namespace matlaw::aoti
{
/// Throws FatalError unless `value` is a dense tensor (*B, *sub_batch, *base) of the dtype on the device. `what` names
/// it ("Input", "Tangent", "Parameter").
void check_tensor(const std::string & what, const artifact::Variable & variable, const at::Tensor & value,
                  at::ScalarType dtype, const at::Device & device = at::kCPU);

/// A value that replaces that of a parameter, which is kept as `dtype`: what is int64 takes integers of any width.
/// Throws as check_tensor(), and InputError for NaN and infinities.
at::Tensor parameter_value(const std::string & model, const artifact::Variable & variable, const at::Tensor & value,
                           at::ScalarType dtype, const at::Device & device);

/// The batch axes of a checked tensor.
std::vector<std::int64_t> batch_shape(const artifact::Variable & variable, const at::Tensor & value);

/// Broadcasts batch shapes together; throws FatalError naming the two that do not fit.
class BatchShape
{
public:
  /// `scalar`: the value has no axes behind its batch, so that a column (n, 1) of numbers is mistaken for a batch of
  /// two axes
  void join(const std::string & name, at::IntArrayRef shape, bool scalar = false);
  void join(const std::string & name, const artifact::Variable & variable, const at::Tensor & value);
  /// Throws FatalError where numbers have the batch of other values with an axis of extent 1 behind, (n, 1) beside
  /// (n,), and nothing else says that so many rows are meant. To be called when all have joined.
  void refuse_columns() const;
  const std::vector<std::int64_t> & shape() const { return _shape; }
  /// Flattened
  std::int64_t rows() const;

private:
  std::vector<std::int64_t> _shape;
  /// Who gave the extent of each axis
  std::vector<std::string> _names;
  /// A batch shape that was joined, and the first with it
  struct Member
  {
    std::string name;
    std::vector<std::int64_t> shape;
    /// All with this shape are scalars
    bool scalars;
  };
  std::vector<Member> _members;
};

/// Throws FatalError for a name in `given` that is not in `known`, and when `all` for one in `known` that is not given.
void check_names(const std::string & what, const std::string & model, const TensorMap & given,
                 const std::vector<std::string> & known, bool all);
}
