// Levels of the x86-64 architecture that code can be compiled for.
#pragma once

#include <string>
#include <vector>

namespace matlaw::artifact
{
/// True when this CPU runs code compiled for `target` ("x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4").
/// False for a name that this runtime does not know: what cannot be checked is not run.
bool cpu_runs(const std::string & target);

/// The highest of `targets` that this CPU runs; empty when there is none.
std::string best_target(const std::vector<std::string> & targets);

/// The highest level of this CPU.
std::string this_cpu();
}
