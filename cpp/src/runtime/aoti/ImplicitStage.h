// A segment that is solved for its unknowns.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "aoti/Call.h"
#include "aoti/Product.h"
#include "aoti/Stage.h"
#include "artifact/Metadata.h"

namespace matlaw::aoti
{
template <typename Real>
struct ImplicitStage final : Stage<Real>
{
  std::int64_t n = 0;
  std::vector<artifact::Slice> unknowns;
  /// `jacobian` has no graph where nothing needs an assembled matrix
  Call<Real> residual, jacobian;
  /// Of a Krylov solve; else null
  const graph::Graph *matvec = nullptr, *precond_setup = nullptr;
  solve::LinearStructure structure;
  Slot u;
  /// Initial guess: first copies (unknown from input) and zeros, then the predictor
  std::vector<std::pair<Slot, Slot>> copies;
  std::vector<Slot> zeros;
  std::optional<Call<Real>> predictor;
  /// Sensitivities A X = -Bg D - P, by all seeds side by side; A is from `dr_dparam` or else from `jacobian`
  std::optional<Call<Real>> jacobian_given, dr_dparam;
  artifact::Sensitivity sensitivity;
  Slot A, X;
  std::int64_t columns = 0;
  std::vector<Product> products;

  void run(ChunkWorkspace<Real> & w, std::int64_t ld, std::int64_t rows, bool with_derivatives) const override;
};

extern template struct ImplicitStage<double>;
extern template struct ImplicitStage<float>;
}
