// Loads a compiled law.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

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

/// How to load and run an artifact.
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
};

/// Loads the model `name` from a stub (`<name>_aoti.i`), an artifact folder or its metadata.json. An empty name stands
/// for the only compiled model there.
///
/// Throws FatalError, naming the reason and the remedy, when the file is not a compiled law or does not fit this
/// machine: schema, torch version, device, dtype, CPU, C library, a missing, truncated or edited file.
std::unique_ptr<Model> load_model(const std::string & path, const std::string & name = "",
                                  const LoadOptions & options = {});
}
