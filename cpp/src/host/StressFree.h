// Hypotheses with zero stress: the strain of the stress-free components is solved for, and the tangent condensed.
#pragma once

#include <functional>

#include <ATen/core/Tensor.h>

#include "matlaw/Model.h"
#include "matlaw/host/Kinematics.h"

namespace matlaw::host
{
/// Newton on s_f(e_h, e_f) = 0 for the strains e_f of the stress-free components, e_h being the host's: for each point
/// on its own, all points that still iterate in one call of the law.
class StressFree
{
public:
  explicit StressFree(const Kinematics & kinematics);

  /// Evaluates the law with derivatives, stress by strain among them, each with the points as its first axis.
  using Law = std::function<Evaluation(const TensorMap & inputs, const TensorMap & parameters)>;

  struct Solution
  {
    Evaluation evaluation;
    /// All six components, (points, 6)
    at::Tensor strain;
  };

  /// `inputs` and `parameters` have the points as their first axis; the strain holds the guess of e_f. A point that
  /// finds no e_f is NOT_CONVERGED, and NaN in every output.
  Solution solve(const Law & law, const TensorMap & inputs, const TensorMap & parameters) const;

  /// The derivative of an output by an input along s_f = 0: block - by_strain_f C_ff^-1 stress_by_input_f. With the
  /// points first: `block` (n, *out, *in), `by_strain` (n, *out, 6), `stress_by_input` (n, 6, *in), `stiffness` C (n,
  /// 6, 6).
  at::Tensor condense(const at::Tensor & block, const at::Tensor & by_strain, const at::Tensor & stress_by_input,
                      const at::Tensor & stiffness) const;

private:
  Kinematics _kinematics;
  /// Indices of the stress-free components, int64
  at::Tensor _free;
};
}
