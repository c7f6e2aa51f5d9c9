#include "aoti/ForwardStage.h"

#include <algorithm>

namespace matlaw::aoti
{
template <typename Real>
void ForwardStage<Real>::run(ChunkWorkspace<Real> & w, std::int64_t ld, std::int64_t, bool derivatives) const
{
  if (!derivatives || !jvp)
    value.run(w, ld);
  else
    jvp->run(w, ld);
  if (!derivatives)
    return;
  if (param_jvp)
    param_jvp->run(w, ld);
  Real * arena = w.arena.data();
  for (const auto & sum : sums)
    std::fill_n(arena + sum.offset * ld, sum.size * ld, Real(0));
  for (const auto & product : products)
    product.run(arena, ld, Real(1));
}

template struct ForwardStage<double>;
template struct ForwardStage<float>;
}
