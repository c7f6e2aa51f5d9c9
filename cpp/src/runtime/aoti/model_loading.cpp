#include <algorithm>
#include <cstdlib>
#include <thread>

#include <ATen/core/Tensor.h>
#include <ATen/ops/tensor.h>

#include "aoti/ModelImplementation.h"
#include "matlaw/logging.h"
#include "support/torch_threads.h"
#include "weights/safetensors.h"
#include "weights/weight_checks.h"

namespace matlaw::aoti
{
using artifact::Variable;

/// Threads of a call; 0 when torch decides at each call.
static std::int64_t fixed_threads(const LoadOptions & options)
{
  if (options.threads < 0)
    throw FatalError("LoadOptions.threads is " + std::to_string(options.threads) + "; it must not be negative.");
  if (options.threads > 0)
    return options.threads;
  const char * text = std::getenv("MATLAW_NUM_THREADS");
  if (!text || !*text)
    return 0;
  char * end = nullptr;
  const auto threads = std::strtol(text, &end, 10);
  if (*end || threads < 1)
    throw FatalError(std::string("MATLAW_NUM_THREADS is '") + text + "'; it must be a whole number of 1 or more.");
  return threads;
}

/// What callers call the variable `name` of a list that has it.
static const std::string & reported(const std::vector<Variable> & variables, const std::string & name)
{
  return std::find_if(variables.begin(), variables.end(), [&](const auto & variable) { return variable.name == name; })
      ->reported;
}

void Model::Implementation::load(const std::string & folder, const std::string & name, const LoadOptions & options)
{
  threads = fixed_threads(options);
  if (options.max_chunk_rows < 0)
    throw FatalError("LoadOptions.max_chunk_rows is " + std::to_string(options.max_chunk_rows) +
                     "; it must not be negative.");
  if (options.max_bytes < 0)
    throw FatalError("LoadOptions.max_bytes is " + std::to_string(options.max_bytes) + "; it must not be negative.");
  auto choice = options;
  if (const char * text = std::getenv("MATLAW_BACKEND"); choice.backend == Backend::AUTO && text && *text)
    choice.backend = backend_from_text(text);
  artifact = artifact::open_artifact(folder, name, choice);
  load_graphs();
  load_weights();
  solvers = metadata().solvers();
  Chunking chunking;
  chunking.max_rows = options.max_chunk_rows;
  chunking.max_bytes = options.max_bytes;
  if (backend != "native")
    chunking.min_rows = 1024; // a package call costs as much as hundreds of rows
  if (artifact.device.is_cuda())
    chunking.min_rows = 16384; // and launches of kernels and copies as much as thousands
  evaluator = make_evaluator(metadata(), graphs, artifact.dtype, chunking);
  evaluator->require_room(solvers);
  describe();
  say_what_was_loaded();
}

void Model::Implementation::load_graphs()
{
  const auto all = signatures(metadata(), artifact.dtype);
  // As many instances of a package as threads can run at once.
  const auto runners =
      std::max<std::int64_t>({threads, support::torch_threads(), std::thread::hardware_concurrency(), 1});
  bool native = false, package = false;
  for (const auto & [stem, file] : artifact.graphs)
  {
    (file.native ? native : package) = true;
    graphs[stem] = file.native ? graph::load_native(file.path)
                               : graph::load_package(file.path, all.at(stem), runners, artifact.device);
  }
  backend = native && package ? "native+inductor" : native || !package ? "native" : "inductor";
}

void Model::Implementation::load_weights()
{
  for (const auto & weight : metadata().weights)
    weight_infos.push_back({weight.name, weight.public_shape()});
  if (weight_infos.empty())
    return;
  // Mapped, so that processes share its pages; its name is that of its content, so nobody writes to it.
  const auto tensors = weights::read_safetensors(artifact.weights, artifact.weight_file);
  auto set = weights::checked_set(metadata().name, weight_infos, artifact.dtype, artifact.device, tensors,
                                  {.user_managed = artifact.device.is_cpu()});
  set->version = 1;
  weights = std::move(set);
  artifact.weights = {};
}

void Model::Implementation::describe()
{
  auto & d = description;
  d.name = metadata().name;
  d.device = artifact.device;
  d.dtype = artifact.dtype;
  for (const auto & variable : metadata().inputs)
  {
    d.input_names.push_back(variable.reported);
    d.input_types.push_back(variable.type);
    d.input_base_shapes.push_back(variable.base_shape);
    d.input_sub_batch_shapes.push_back(variable.sub_batch_shape);
  }
  for (const auto & variable : metadata().outputs)
  {
    d.output_names.push_back(variable.reported);
    d.output_types.push_back(variable.type);
    d.output_base_shapes.push_back(variable.base_shape);
    d.output_sub_batch_shapes.push_back(variable.sub_batch_shape);
  }
  for (const auto & pair : metadata().derivatives)
    d.derivative_pairs.push_back(
        {reported(metadata().outputs, pair.output), reported(metadata().inputs, pair.input), pair.batch_independent});
  for (auto pair : metadata().state_pairs)
  {
    pair.current = reported(pair.is_state ? metadata().outputs : metadata().inputs, pair.current);
    pair.old = reported(metadata().inputs, pair.old);
    d.state_pairs.push_back(std::move(pair));
  }
  for (const auto & [current, old] : metadata().times)
    d.times.emplace_back(reported(metadata().inputs, current), reported(metadata().inputs, old));
  for (const auto & segment : metadata().segments)
    if (segment.implicit)
      d.implicit_updates.push_back(segment.update);
  for (const auto & parameter : metadata().parameters)
  {
    parameter_names.push_back(parameter.reported);
    parameters[parameter.reported] = at::tensor(parameter.value, at::kDouble)
                                         .reshape(parameter.public_shape())
                                         .to(artifact.device, parameter.integers ? at::kLong : artifact.dtype);
  }
}

void Model::Implementation::say_what_was_loaded() const
{
  using namespace logging;
  if (enabled(Channel::load, Level::info))
    write(Channel::load, Level::info,
          "Model '" + metadata().name + "' from '" + artifact.folder + "': " + artifact.device.str() + ", " +
              at::toString(artifact.dtype) + ", " + backend + ", " + std::to_string(graphs.size()) +
              " graphs, threads of a call: " + (threads ? std::to_string(threads) : std::string("as torch")) + ".");
  if (enabled(Channel::load, Level::debug))
    for (const auto & [stem, file] : artifact.graphs)
      write(Channel::load, Level::debug, "  " + stem + ": " + file.path);
}
}
