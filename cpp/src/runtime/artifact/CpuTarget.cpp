#include "artifact/CpuTarget.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

namespace matlaw::artifact
{
static constexpr std::array levels = {"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4", "native"};

/// 0 for a name that is no target.
static int rank(const std::string & target)
{
  const auto found = std::find(levels.begin(), levels.end(), target);
  return found == levels.end() ? 0 : int(found - levels.begin()) + 1;
}

/// Flags of the first processor in /proc/cpuinfo.
static std::set<std::string> cpu_flags()
{
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("flags"))
    {
      std::istringstream words(line.substr(std::min(line.find(':') + 1, line.size())));
      return {std::istream_iterator<std::string>(words), {}};
    }
  return {};
}

static bool has_all(const std::vector<std::string> & features)
{
  const auto flags = cpu_flags();
  return !features.empty() &&
         std::all_of(features.begin(), features.end(), [&](const auto & feature) { return flags.count(feature) > 0; });
}

bool cpu_runs(const std::string & target, const std::vector<std::string> & features)
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
  case 5:
    return has_all(features);
  default:
    return false;
  }
#else
  return false;
#endif
}

std::string best_target(const std::vector<std::string> & targets, const std::vector<std::string> & features)
{
  std::string best;
  for (const auto & target : targets)
    if (rank(target) > rank(best) && cpu_runs(target, features))
      best = target;
  return best;
}

std::string this_cpu()
{
  return best_target({levels.begin(), levels.end() - 1});
}
}
