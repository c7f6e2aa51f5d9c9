// Levels of the x86-64 architecture that code can be compiled for.
#pragma once

#include <string>
#include <vector>

namespace matlaw::artifact
{
/// True when this CPU runs code compiled for `target`: "x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4", or "native",
/// which needs all of `features` (flags of /proc/cpuinfo; none recorded: refused). False for any other name: what
/// cannot be checked is not run.
bool cpu_runs(const std::string & target, const std::vector<std::string> & features = {});

/// The highest of `targets` that this CPU runs, "native" counting as the highest; empty when there is none.
std::string best_target(const std::vector<std::string> & targets, const std::vector<std::string> & features = {});

/// The highest level of this CPU.
std::string this_cpu();
}
