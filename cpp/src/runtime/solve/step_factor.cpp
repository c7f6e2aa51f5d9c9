#include "solve/step_factor.h"

#include <algorithm>

namespace matlaw::solve
{
double step_factor(const RowVerdict & verdict, std::int64_t miters)
{
  if (verdict.status == Status::BAD_INPUT)
    return 0.5;
  if (verdict.status == Status::NOT_CONVERGED)
    return verdict.iterations >= miters ? 0.5 : 0.25;
  const auto easy = std::max<std::int64_t>(4, miters / 3);
  if (verdict.iterations <= easy || miters <= easy)
    return 1.0;
  return 1.0 - double(verdict.iterations - easy) / (2.0 * double(miters - easy));
}
}
