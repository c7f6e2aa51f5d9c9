// Writes a failing call to a file that matlaw-replay opens.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "matlaw/Failure.h"
#include "matlaw/solve/NewtonConfig.h"

namespace matlaw::diagnosis
{
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
  /// By implicit update
  std::vector<std::pair<std::string, solve::NewtonConfig>> solvers;
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
