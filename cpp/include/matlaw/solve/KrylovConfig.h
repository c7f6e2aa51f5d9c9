// Settings of the iterative linear solvers.
#pragma once

#include <cstdint>
#include <string>

namespace matlaw::solve
{
enum class KrylovMethod : std::uint8_t
{
  /// Restarted GMRES. Source: Y. Saad and M. H. Schultz, SIAM J. Sci. Stat. Comput. 7 (1986)
  GMRES,
  /// Source: H. A. van der Vorst, SIAM J. Sci. Stat. Comput. 13 (1992)
  BICGSTAB
};

/// When a row's preconditioner is built again in a Newton solve.
enum class PreconditionerCache : std::uint8_t
{
  /// In every iteration
  NONE,
  /// Never: the one of the first iteration serves to the end
  CHORD,
  /// After a linear solve that took more than `cache_max_its` iterations
  MAX_ITS
};

/// A row of A x = b is solved when |b - A x| <= abs_tol or |b - A x| <= rel_tol |b|.
struct KrylovConfig
{
  KrylovMethod method = KrylovMethod::GMRES;
  /// Columns of the basis after which GMRES starts anew
  std::int64_t restart = 40;
  std::int64_t max_its = 1000;
  double abs_tol = 0.0;
  double rel_tol = 1e-4;
  PreconditionerCache cache_strategy = PreconditionerCache::NONE;
  std::int64_t cache_max_its = 10;
};

/// Throws FatalError naming the entry that is out of range.
void check(const KrylovConfig & config);

/// "gmres" or "bicgstab". Throws FatalError for any other text.
KrylovMethod krylov_method_from_text(const std::string & text);
std::string krylov_method_text(KrylovMethod method);

/// "none", "chord" or "max_its". Throws FatalError for any other text.
PreconditionerCache preconditioner_cache_from_text(const std::string & text);
std::string preconditioner_cache_text(PreconditionerCache strategy);
}
