// What a segment of a law became, ready to run.
#pragma once

#include <cstdint>

#include "aoti/ChunkWorkspace.h"

namespace matlaw::aoti
{
template <typename Real>
class Stage
{
public:
  virtual ~Stage() = default;

  /// Runs over the `ld` columns of the arena of `w`, of which `rows` are the chunk's and the rest is padding.
  virtual void run(ChunkWorkspace<Real> & w, std::int64_t ld, std::int64_t rows, bool derivatives) const = 0;

  /// Components that a row takes at most in arrays that few runs fill: it has to have room for them, but they need not
  /// stay in the cache.
  virtual std::int64_t rare_components(bool /*derivatives*/) const { return 0; }
};
}
