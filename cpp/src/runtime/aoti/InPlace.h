// A law of one forward segment on the memory of its caller: nothing is copied.
#pragma once

#include <cstdint>
#include <vector>

#include "aoti/BatchCall.h"
#include "aoti/Call.h"
#include "aoti/Chain.h"
#include "aoti/PairLayout.h"

namespace matlaw::aoti
{
/// Runs a native graph that can read and write rows where the caller has them, in any layout.
template <typename Real>
class InPlace
{
public:
  /// `derivatives`: a run fills those of `pairs` too. Everything must outlive this.
  InPlace(const artifact::Metadata & metadata, const Chain<Real> & chain, const std::vector<PairLayout> & pairs,
          bool derivatives);

  /// Evaluates as many rows of [first, first + rows) as it can, whole blocks from the first on. Returns their number: 0
  /// for a law, or memory, that it is not for, and where a value is not finite, which is for others to judge.
  std::int64_t run(BatchCall<Real> & call, std::int64_t first, std::int64_t rows, ChunkWorkspace<Real> & w) const;

private:
  enum class Kind
  {
    INPUT,
    PARAMETER,
    OUTPUT,
    BLOCK
  };
  struct Argument
  {
    Kind kind;
    std::size_t index;
  };

  bool list(const Call<Real> & call, const Chain<Real> & chain, const std::vector<PairLayout> & pairs);

  native::InPlaceFunction _function = nullptr;
  std::vector<Argument> _inputs, _outputs;
};

extern template class InPlace<double>;
extern template class InPlace<float>;
}
