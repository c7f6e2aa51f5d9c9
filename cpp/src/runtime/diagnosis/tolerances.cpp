#include "diagnosis/tolerances.h"

#include <cstddef>

namespace matlaw::diagnosis
{
bool failed_in_solve(const FailedRow & row)
{
  return row.reason >= Reason::ITERATION_LIMIT && row.reason <= Reason::SINGULAR_TANGENT;
}

std::int64_t iteration_limit(const FailedRow & row, const std::vector<solve::NewtonConfig> & solvers)
{
  return failed_in_solve(row) ? solvers.at(std::size_t(row.place)).miters : 0;
}

void set_tolerances(Failure & failure, const std::vector<solve::NewtonConfig> & solvers)
{
  if (solvers.empty())
    return;
  std::size_t number = 0;
  if (!failure.rows.empty())
    if (const auto & worst = failure.rows[failure.worst()]; failed_in_solve(worst))
      number = std::size_t(worst.place);
  const auto & solver = solvers.at(number);
  failure.atol = solver.atol;
  failure.rtol = solver.rtol;
  failure.miters = solver.miters;
}
}
