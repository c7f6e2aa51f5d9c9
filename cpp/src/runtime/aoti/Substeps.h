// The rows of a chunk that did not converge try again in substeps.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "aoti/Chain.h"
#include "aoti/Want.h"
#include "matlaw/solve/Substepping.h"

namespace matlaw::aoti
{
/// What came of the rows that took substeps. Row p of the result is row `rows[p]` of the chunk.
template <typename Real>
struct SubsteppedRows
{
  std::vector<std::int32_t> rows;
  std::vector<solve::SubstepVerdict> verdicts;
  /// Component c of row p is at [c * ld + p]: all outputs, then entry (c, j) of all derivatives at [(c * columns + j)
  /// * ld + p]
  std::vector<Real> outputs, derivatives;
  std::int64_t columns = 0, ld = 0;
};

/// `metadata` must outlive it; `graphs` and its chains too.
template <typename Real>
class Substeps
{
public:
  Substeps(const artifact::Metadata & metadata, const Graphs & graphs);

  /// Whether rows may be cut: the settings allow it, and the law has forces whose old value it takes.
  bool allowed(const std::vector<solve::NewtonConfig> & solvers) const;
  /// Throws FatalError when rows may be cut and the artifact lacks the graphs for the derivatives that are wanted.
  void require(Want want, const std::vector<solve::NewtonConfig> & solvers) const;
  /// Components that a row in substeps takes besides what it takes at once.
  std::int64_t components(const Chain<Real> & chain, Want want) const;
  /// Where the k-th derivative that is wanted begins among the derivatives of a row: number of its first entry; the
  /// next row of the matrix is SubsteppedRows::columns further on.
  std::int64_t first_entry(Want want, std::size_t k) const { return _first_entries[int(want)][k]; }

  /// `chain` has just run over the chunk in `w`, and w.status says which rows failed.
  SubsteppedRows<Real> run(const Chain<Real> & chain, ChunkWorkspace<Real> & w, std::int64_t ld, std::int64_t rows,
                           Want want) const;

private:
  /// Entries of a derivative by all seeds
  std::int64_t columns(Want want) const;
  std::vector<Real> seeds(Want want, std::int64_t columns, std::int64_t ld) const;

  const artifact::Metadata & _metadata;
  solve::Increment _increment;
  /// By Want; null where there are no derivatives, or no graphs for them
  std::unique_ptr<Chain<Real>> _chains[3];
  std::vector<std::int64_t> _first_entries[3];
};

extern template class Substeps<double>;
extern template class Substeps<float>;
}
