// A segment that is evaluated, not solved.
#pragma once

#include <optional>
#include <vector>

#include "aoti/Call.h"
#include "aoti/Product.h"
#include "aoti/Stage.h"

namespace matlaw::aoti
{
template <typename Real>
struct ForwardStage final : Stage<Real>
{
  Call<Real> value;
  /// Set when derivatives pass through this segment, and when they begin at its parameters
  std::optional<Call<Real>> jvp, param_jvp;
  std::vector<Slot> sums;
  std::vector<Product> products;

  void run(ChunkWorkspace<Real> & w, std::int64_t ld, std::int64_t rows, bool derivatives) const override;
};

extern template struct ForwardStage<double>;
extern template struct ForwardStage<float>;
}
