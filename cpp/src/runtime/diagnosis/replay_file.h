// Writes a failing call to a file that matlaw-replay opens.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "matlaw/Failure.h"
#include "matlaw/solve/NewtonConfig.h"

namespace matlaw::diagnosis
{
/// A setting of the solver.
using Setting = std::variant<std::int64_t, double, std::string>;

/// All settings of a solver, under the names that Python has for them.
std::vector<std::pair<std::string, Setting>> settings(const solve::NewtonConfig & config);

/// What a replay file holds besides the failure itself.
struct ReplaySource
{
  /// "compiled" or "eager"
  std::string runtime;
  /// Folder of the compiled law; empty for an eager one
  std::string artifact;
  /// The input file: its name and its text
  std::string file, text;
  /// Python files, packages or module names that register further types
  std::vector<std::string> extensions;
  /// "float64" or "float32"
  std::string dtype;
  /// Name in the input file of an input, output or parameter that a caller knows under another name
  std::map<std::string, std::string> original_names;
  std::vector<std::pair<std::string, Setting>> solver;
};

/// No process writes more files than these.
constexpr int max_replay_files = 20;

/// The folder that the environment variable MATLAW_FAILURE_DIR names; empty when it is not set, or when this process
/// wrote all the files that it may.
std::string replay_folder();

/// Writes `<folder>/<model>-<pid>-<number>.json` in one step and returns its path. The folder is made when it is not
/// there. Never throws: what goes wrong is logged on the channel `host` as an error, once, and the path is then empty.
std::string write_replay_file(const std::string & folder, const Failure & failure,
                              const ReplaySource & source) noexcept;
}
