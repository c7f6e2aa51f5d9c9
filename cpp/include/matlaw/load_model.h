// Loads a law: compiled, or straight from its input file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include "matlaw/Model.h"

namespace matlaw
{
/// What evaluates the graphs of an artifact.
enum class Backend : std::int8_t
{
  /// A graph's native kernel where there is one for this CPU, else its .pt2 package
  AUTO,
  /// Native kernels only
  NATIVE,
  /// .pt2 packages only
  INDUCTOR
};

/// "auto", "native" or "inductor". Throws FatalError for any other text.
Backend backend_from_text(const std::string & text);

/// Which runtime evaluates the law.
enum class Runtime : std::int8_t
{
  /// Compiled laws as they are, other input files eagerly
  AUTO,
  /// Compiled laws only, and no fallback
  AOTI,
  /// Python in this process, for a compiled law too: the source in its artifact is run
  EAGER
};

/// What to do with a compiled law that is sound, but does not fit this machine: another CPU, C library or torch, no
/// build for the device, or its build was not copied along.
enum class Fallback : std::int8_t
{
  /// Run the source that travels in the artifact eagerly, and say so once on stderr
  EAGER,
  /// Throw FatalError
  NONE
};

/// "auto", "aoti" or "eager". Throws FatalError for any other text.
Runtime runtime_from_text(const std::string & text);
/// "eager" or "none". Throws FatalError for any other text.
Fallback fallback_from_text(const std::string & text);

/// How to load and run a law.
struct LoadOptions
{
  at::Device device = at::kCPU;
  /// at::kDouble or at::kFloat; when not given the only one that the artifact has for the device, else double
  std::optional<at::ScalarType> dtype = std::nullopt;
  /// When AUTO, the environment variable MATLAW_BACKEND decides where it is set
  Backend backend = Backend::AUTO;
  /// Threads of one call. 0: the environment variable MATLAW_NUM_THREADS, else at::get_num_threads()
  std::int64_t threads = 0;
  /// Largest number of rows that run through the law together. 0: what fits the CPU's L2 cache
  std::int64_t max_chunk_rows = 0;
  /// Most memory, in bytes, that a call may work in on all of its threads together; inputs, outputs and what .pt2
  /// graphs allocate inside are not counted. Chunks are made as small as it takes, then fewer threads are used. 0: no
  /// bound
  std::int64_t max_bytes = 0;
  Runtime runtime = Runtime::AUTO;
  /// When `runtime` is AUTO
  Fallback fallback = Fallback::EAGER;
  /// Python files, package folders or dotted names that register further model types, for what is run eagerly
  std::vector<std::string> extensions = {};
};

/// Loads the model `name`. A stub (`<name>_aoti.i`), an artifact folder or its metadata.json gives the compiled law,
/// and an empty name stands for the only compiled model there; any other input file is evaluated eagerly.
///
/// Eager evaluation needs Python in the process: link matlaw::eager and libpython. Throws FatalError where there is
/// none, and, naming the reason and the remedy, when the file is wrong or damaged (schema, a missing, truncated or
/// edited file), or does not fit this machine and `options` allow no fallback.
std::unique_ptr<Model> load_model(const std::string & path, const std::string & name = "",
                                  const LoadOptions & options = {});
}
