#include "matlaw/solve/NewtonConfig.h"

#include <cmath>

#include "matlaw/errors.h"
#include "support/text.h"

namespace matlaw::solve
{
/// 2^30 substeps are more than anyone waits for.
static constexpr std::int64_t most_substepping_levels = 30;

LineSearch line_search_from_text(const std::string & text)
{
  if (text == "NONE")
    return LineSearch::NONE;
  if (text == "BACKTRACKING")
    return LineSearch::BACKTRACKING;
  if (text == "STRONG_WOLFE")
    return LineSearch::STRONG_WOLFE;
  throw FatalError("There is no line search '" + text + "'; expected NONE, BACKTRACKING or STRONG_WOLFE.");
}

std::string line_search_text(LineSearch line_search)
{
  switch (line_search)
  {
  case LineSearch::BACKTRACKING:
    return "BACKTRACKING";
  case LineSearch::STRONG_WOLFE:
    return "STRONG_WOLFE";
  default:
    return "NONE";
  }
}

void check(const NewtonConfig & config)
{
  const auto need = [](bool holds, const char * name, double value, const char * expected)
  {
    if (!holds)
      throw FatalError(std::string("The solver setting ") + name + " is " + support::number_text(value, 15) +
                       "; it must be " + expected + ".");
  };
  need(config.atol >= 0 && std::isfinite(config.atol), "atol", config.atol, "a number that is not negative");
  need(config.rtol >= 0 && std::isfinite(config.rtol), "rtol", config.rtol, "a number that is not negative");
  need(config.miters >= 0, "miters", double(config.miters), "a whole number that is not negative");
  need(config.ls_max_iters >= 1, "ls_max_iters", double(config.ls_max_iters), "a whole number of 1 or more");
  need(config.ls_cutback > 1 && std::isfinite(config.ls_cutback), "ls_cutback", config.ls_cutback, "above 1");
  need(config.ls_c > 0 && config.ls_c < 1, "ls_c", config.ls_c, "between 0 and 1");
  need(config.max_substepping_level >= 0 && config.max_substepping_level <= most_substepping_levels,
       "max_substepping_level", double(config.max_substepping_level), "a whole number from 0 to 30");
  need(config.substep_del_tol > 0, "substep_del_tol", config.substep_del_tol, "above 0");
  for (const auto * iterative : {&config.krylov, &config.input_sensitivity, &config.param_sensitivity})
    if (*iterative)
      check(**iterative);
}
}
