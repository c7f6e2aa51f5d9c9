#include "matlaw/solve/step_factor.h"

#include <algorithm>
#include <cmath>

namespace matlaw::solve
{
std::int64_t easy_iterations(std::int64_t miters)
{
  return std::max<std::int64_t>(4, miters / 3);
}

double substep_factor(Status status, double smallest)
{
  return status == Status::CONVERGED ? std::max(0.25, smallest) : 0.25;
}

double step_factor(const RowVerdict & verdict, std::int64_t miters)
{
  if (verdict.status == Status::BAD_INPUT)
    return 0.5;
  if (verdict.status == Status::NOT_CONVERGED)
  {
    const auto halved = verdict.initial_residual * std::pow(0.5, double(verdict.iterations));
    return verdict.iterations >= miters && verdict.final_residual <= halved ? 0.5 : 0.25;
  }
  const auto near = std::max<std::int64_t>(4, 3 * miters / 4);
  if (verdict.iterations <= near || miters <= near)
    return 1.0;
  return 1.0 - double(verdict.iterations - near) / (2.0 * double(miters - near));
}
}
