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
class CompiledSystem;

/// Sensitivities S = -A^{-1} Bg by all givens at once, from a kernel that solves without a matrix: X = S D.
template <typename Real>
struct SparseSensitivity
{
  Call<Real> kernel;
  Slot S, sound;
  std::int64_t columns = 0;
  /// For rows that are not sound: A and Bg
  const graph::Graph * jacobian_given = nullptr;
  /// Sums of what is not simply a part of S
  std::vector<Slot> sums;
  std::vector<Product> products;
};

template <typename Real>
struct ImplicitStage final : Stage<Real>
{
  std::int64_t n = 0;
  std::vector<artifact::Slice> unknowns;
  /// `jacobian` has no graph where nothing needs an assembled matrix
  Call<Real> residual, jacobian;
  /// A kernel that solves for Newton steps without a matrix; else null
  const graph::Graph * newton_step = nullptr;
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
  solve::LinearStructure sensitivity;
  /// Where the settings of the solves of an iterative one are
  std::optional<solve::KrylovConfig> solve::NewtonConfig::* iterative_sensitivity = nullptr;
  Slot A, X;
  std::int64_t columns = 0;
  std::vector<Product> products;
  /// In the place of the last two and of `products`
  std::optional<SparseSensitivity<Real>> sparse;

  void run(ChunkWorkspace<Real> & w, std::int64_t ld, std::int64_t rows, bool with_derivatives) const override;
  std::int64_t rare_components(bool with_derivatives) const override;

private:
  void solve(CompiledSystem<Real> & system, Real * u, const solve::NewtonConfig & config, ChunkWorkspace<Real> & w,
             std::int64_t ld, std::int64_t rows) const;
  void solve_with_matrix(const solve::NewtonConfig & solver, ChunkWorkspace<Real> & w, std::int64_t ld) const;
  void solve_sparse(ChunkWorkspace<Real> & w, std::int64_t ld) const;
  void solve_unsound(ChunkWorkspace<Real> & w, std::int64_t ld) const;
};

extern template struct ImplicitStage<double>;
extern template struct ImplicitStage<float>;
}
