// Runs a chain so that no graph and no solve ever sees a row with a bad input.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "aoti/Chain.h"
#include "artifact/Metadata.h"

namespace matlaw::aoti
{
/// Rows with a non-finite input or parameter, and rows that fail while time does not advance, are BAD_INPUT.
template <typename Real>
class GuardedChain
{
public:
  /// `chain` gives the places of inputs and parameters, which are the same in all chains of a law; it must outlive
  /// this.
  GuardedChain(const artifact::Metadata & metadata, const Chain<Real> & chain);

  /// The short way of a law that is one forward segment, of which no verdict differs from row to row as long as all is
  /// finite. False when it is another law, or when something is not finite; run() then tells which rows.
  bool run_sound(const Chain<Real> & chain, ChunkWorkspace<Real> & w, std::int64_t ld, std::int64_t rows,
                 bool derivatives) const;
  /// Runs `chain` for rows that are in the arena, and fills the verdicts in `w`.
  void run(const Chain<Real> & chain, ChunkWorkspace<Real> & w, std::int64_t ld, std::int64_t rows,
           bool derivatives) const;

private:
  std::vector<std::uint8_t> bad_rows(const ChunkWorkspace<Real> & w, std::int64_t ld, std::int64_t rows) const;
  bool replace(ChunkWorkspace<Real> & w, std::int64_t ld, std::int64_t rows,
               const std::vector<std::uint8_t> & bad) const;
  void blame_time(ChunkWorkspace<Real> & w, std::int64_t ld, std::int64_t rows) const;

  const Chain<Real> & _chain;
  /// Positions among the inputs: time and its old value
  std::vector<std::pair<std::size_t, std::size_t>> _times;
};

extern template class GuardedChain<double>;
extern template class GuardedChain<float>;
}
