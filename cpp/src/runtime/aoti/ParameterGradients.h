// The adjoint of a law by its parameters, added up while the rows are computed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "aoti/Arguments.h"
#include "artifact/Metadata.h"
#include "matlaw/Model.h"

namespace matlaw::aoti
{
/// The derivative of sum(cotangent * output) over all outputs and rows by each parameter that has derivatives, of the
/// shape of its value: rows that share one value are added up, in their order, so the sum has the same bits however
/// the rows were cut up.
class ParameterGradients
{
public:
  /// Throws FatalError for a cotangent that does not fit the call or has no compiled derivative by such a parameter;
  /// names in `cotangents` are outputs. `folder` is where the artifact is. `metadata` must outlive it.
  ParameterGradients(const artifact::Metadata & metadata, const std::string & folder, at::ScalarType dtype,
                     const at::Device & device, const Arguments & arguments, const TensorMap & cotangents);

  /// Rows [first, first + rows), the ones after those of the call before: `blocks[output][parameter]` is
  /// (rows or more, *out, *param), or (*out, *param) where all rows have the same.
  void add(std::int64_t first, std::int64_t rows, const BlockMap & blocks);
  /// By the names that callers use; the end of it.
  TensorMap take();

private:
  /// Weights of an output, (all rows, its size)
  struct Cotangent
  {
    const artifact::Variable * output;
    at::Tensor rows;
  };
  struct Gradient
  {
    const artifact::Parameter * parameter;
    /// Like its value
    at::Tensor sum;
    /// Which of its values each row uses, (all rows)
    at::Tensor owner;
  };

  at::ScalarType _dtype;
  at::Device _device;
  std::vector<Cotangent> _cotangents;
  std::vector<Gradient> _gradients;
};
}
