#include "artifact/CpuTarget.h"

#include <algorithm>
#include <array>

namespace matlaw::artifact
{
static constexpr std::array levels = {"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"};

/// 0 for a name that is not a level.
static int rank(const std::string & target)
{
  const auto found = std::find(levels.begin(), levels.end(), target);
  return found == levels.end() ? 0 : int(found - levels.begin()) + 1;
}

bool cpu_runs(const std::string & target)
{
#if defined(__x86_64__)
  __builtin_cpu_init();
  switch (rank(target))
  {
  case 1:
    return true;
  case 2:
    return __builtin_cpu_supports("x86-64-v2");
  case 3:
    return __builtin_cpu_supports("x86-64-v3");
  case 4:
    return __builtin_cpu_supports("x86-64-v4");
  default:
    return false;
  }
#else
  return false;
#endif
}

std::string best_target(const std::vector<std::string> & targets)
{
  std::string best;
  for (const auto & target : targets)
    if (cpu_runs(target) && rank(target) > rank(best))
      best = target;
  return best;
}

std::string this_cpu()
{
  return best_target({levels.begin(), levels.end()});
}
}
