#include "matlaw/aoti/Model.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <set>
#include <thread>

#include <ATen/core/Tensor.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros_like.h>

#include "aoti/Evaluator.h"
#include "aoti/FailingCall.h"
#include "aoti/ParameterGradients.h"
#include "artifact/Artifact.h"
#include "diagnosis/replay_file.h"
#include "matlaw/Failure.h"
#include "matlaw/logging.h"
#include "support/text.h"
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

struct Model::Implementation
{
  artifact::Artifact artifact;
  std::int64_t threads = 0;
  std::string backend;
  Graphs graphs;
  std::unique_ptr<Evaluator> evaluator;
  TensorMap parameters;
  /// Settings of the implicit updates, in order
  std::vector<solve::NewtonConfig> solvers;
  std::vector<WeightInfo> weight_infos;
  mutable std::mutex weights_mutex;
  /// In use; a null pointer where there are none
  std::shared_ptr<const WeightSet> weights;
  mutable std::mutex failing_mutex;
  /// The last call in which rows failed
  mutable std::shared_ptr<const FailingCall> failing;

  Description description;
  std::vector<std::string> parameter_names;

  const artifact::Metadata & metadata() const { return artifact.metadata; }

  void load(const std::string & folder, const std::string & name, const LoadOptions & options)
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

  void load_weights()
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

  std::shared_ptr<const WeightSet> weights_in_use() const
  {
    const std::lock_guard lock(weights_mutex);
    return weights;
  }

  void load_graphs()
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

  void say_what_was_loaded() const
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

  /// What callers call the variable `name` of a list that has it.
  static const std::string & reported(const std::vector<Variable> & variables, const std::string & name)
  {
    return std::find_if(variables.begin(), variables.end(),
                        [&](const auto & variable) { return variable.name == name; })
        ->reported;
  }

  void describe()
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
                                           .to(artifact.device, artifact.dtype);
    }
  }

  [[noreturn]] void no_derivatives() const
  {
    throw FatalError(
        "The artifact '" + artifact.folder + "' of model '" + metadata().name +
        "' was compiled without derivatives. Regenerate it via matlaw-compile -d OUT:IN (for instance -d " +
        (description.output_names.empty() || description.input_names.empty()
             ? "OUT:IN"
             : description.output_names[0] + ":" + description.input_names[0]) +
        ").");
  }

  /// Checks the names and tensors of a call.
  Arguments arguments_of(const TensorMap & inputs) const
  {
    check_names("input", metadata().name, inputs, description.input_names, true);
    Arguments arguments;
    arguments.solvers = solvers;
    arguments.weights = weights_in_use();
    const auto take = [&](const char * what, const Variable & variable, const at::Tensor & value)
    {
      check_tensor(what, variable, value, artifact.dtype, artifact.device);
      arguments.batch.join(variable.reported, batch_shape(variable, value));
      // The solver runs on the CPU, whatever the graphs run on.
      return (value.is_neg() ? value.resolve_neg() : value).to(at::kCPU);
    };
    for (const auto & variable : metadata().inputs)
      arguments.inputs.push_back(take("Input", variable, inputs.at(variable.reported)));
    for (const auto & parameter : metadata().parameters)
      arguments.parameters.push_back(take("Parameter", parameter, parameters.at(parameter.reported)));
    return arguments;
  }

  std::int64_t threads_of_a_call() const
  {
    const auto of_torch = support::torch_threads();
    return threads ? threads : of_torch;
  }

  Evaluation run(const TensorMap & inputs, Want want, const EvaluateOptions & options = {}) const
  {
    return run(arguments_of(inputs), want, options);
  }

  Evaluation run(Arguments arguments, Want want, const EvaluateOptions & options = {},
                 const TakeBlocks & take = {}) const
  {
    arguments.history = options.history;
    if (options.weights)
    {
      if (options.weights->pointers.size() != weight_infos.size())
        throw FatalError("EvaluateOptions.weights are not those of model '" + metadata().name + "'.");
      arguments.weights = options.weights;
    }
    auto evaluation = evaluator->evaluate(arguments, want, threads_of_a_call(), take);
    if (!evaluation.ok())
      remember(arguments, want, evaluation);
    if (logging::enabled(logging::Channel::newton, logging::Level::info))
      say_verdict(evaluation);
    move(evaluation, artifact.device);
    return evaluation;
  }

  static void move(Evaluation & evaluation, const at::Device & device)
  {
    if (device.is_cpu())
      return;
    for (auto & [name, value] : evaluation.outputs)
      value = value.to(device);
    for (auto & [output, row] : evaluation.jacobian)
      for (auto & [input, block] : row)
        block = block.to(device);
    for (auto * verdict : {&evaluation.status, &evaluation.iterations, &evaluation.substeps, &evaluation.dt_factor,
                           &evaluation.residual, &evaluation.reason, &evaluation.place})
      if (verdict->defined())
        *verdict = verdict->to(device);
  }

  void say_verdict(const Evaluation & evaluation) const
  {
    const auto rows = std::to_string(evaluation.status.numel());
    const auto most =
        evaluation.status.numel() ? std::to_string(evaluation.iterations.max().item<std::int32_t>()) : std::string("0");
    logging::write(logging::Channel::newton, evaluation.ok() ? logging::Level::debug : logging::Level::info,
                   "Model '" + metadata().name + "': " +
                       (evaluation.ok() ? rows + " rows converged"
                                        : std::to_string(evaluation.failed_rows.size()) + " of " + rows +
                                              " rows failed (" + support::row_list(evaluation.failed_rows) + ")") +
                       ", at most " + most + " iterations.");
  }

  /// Keeps what is needed to look into a failing call later, and writes its replay file when that is asked for.
  /// Whatever goes wrong here is not the call's problem.
  void remember(const Arguments & arguments, Want want, const Evaluation & evaluation) const noexcept
  {
    try
    {
      auto call = std::make_shared<FailingCall>(metadata(), arguments, want, evaluation);
      if (const auto folder = diagnosis::replay_folder(); !folder.empty())
        call->set_file(diagnosis::write_replay_file(folder, look_into(*call), replay_source(*call)));
      const std::lock_guard lock(failing_mutex);
      failing = std::move(call);
    }
    catch (...)
    {
    }
  }

  /// ... of a point, whose inputs stand side by side.
  void remember_point(const double * inputs, Want want, const PointVerdict & verdict) const noexcept
  {
    try
    {
      support::torch_threads(); // before this thread's first operation
      TensorMap values;
      for (const auto & variable : metadata().inputs)
      {
        auto shape = variable.public_shape();
        shape.insert(shape.begin(), 1);
        values[variable.reported] = at::tensor(at::ArrayRef<double>(inputs, std::size_t(variable.size)), at::kDouble)
                                        .reshape(shape)
                                        .to(artifact.dtype);
        inputs += variable.size;
      }
      Evaluation evaluation;
      evaluation.status = at::tensor({int(verdict.status)}, at::kChar);
      evaluation.failed_rows = {0};
      remember(arguments_of(values), want, evaluation);
      if (logging::enabled(logging::Channel::newton, logging::Level::info))
        logging::write(logging::Channel::newton, logging::Level::info,
                       "Model '" + metadata().name + "': a point failed after " + std::to_string(verdict.iterations) +
                           " iterations.");
    }
    catch (...)
    {
    }
  }

  const Failure & look_into(const FailingCall & call) const { return call.look_into(metadata(), *evaluator); }

  std::shared_ptr<const FailingCall> last_failing() const
  {
    const std::lock_guard lock(failing_mutex);
    return failing;
  }

  diagnosis::ReplaySource replay_source(const FailingCall & call) const
  {
    diagnosis::ReplaySource source;
    source.runtime = "compiled";
    source.artifact = std::filesystem::absolute(artifact.folder).string();
    source.dtype = artifact.dtype == at::kFloat ? "float32" : "float64";
    const auto written = artifact::read_source(artifact.folder);
    source.file = written.file;
    source.text = written.text;
    const auto rename = [&](const Variable & variable)
    {
      if (variable.reported != variable.name)
        source.original_names[variable.reported] = variable.name;
    };
    for (const auto & variable : metadata().inputs)
      rename(variable);
    for (const auto & parameter : metadata().parameters)
      rename(parameter);
    for (std::size_t i = 0; i < call.solvers().size(); i++)
      source.solvers.emplace_back(description.implicit_updates[i], call.solvers()[i]);
    return source;
  }

  void need_parameter_derivatives() const
  {
    if (!metadata().param_derivatives.empty())
      return;
    const auto & known = parameter_names;
    throw FatalError("The artifact '" + artifact.folder + "' of model '" + metadata().name +
                     "' holds no derivatives by parameters. Regenerate it via matlaw-compile -p NAME -d OUT:NAME (" +
                     (known.empty() ? "it has no promoted parameters" : "for instance -d :" + known[0]) +
                     "), or take them from the eager runtime.");
  }
};

Model::Model(const std::string & folder, const std::string & name, const LoadOptions & options)
    : _implementation(std::make_unique<Implementation>())
{
  _implementation->load(folder, name, options);
}
Model::~Model() = default;

const TensorMap & Model::named_parameters() const
{
  return _implementation->parameters;
}
const std::vector<WeightInfo> & Model::weight_infos() const
{
  return _implementation->weight_infos;
}
std::shared_ptr<const WeightSet> Model::weights() const
{
  return _implementation->weights_in_use();
}
std::uint64_t Model::install_weights(std::shared_ptr<WeightSet> weights)
{
  auto & self = *_implementation;
  if (!weights || self.weight_infos.empty() || weights->pointers.size() != self.weight_infos.size())
    throw FatalError("install_weights of model '" + name() + "' takes what its prepare_weights gave.");
  // What is replaced is freed without the lock, by whoever held it last.
  std::shared_ptr<const WeightSet> old;
  const std::lock_guard lock(self.weights_mutex);
  old = self.weights;
  const auto version = weights->version = old->version + 1;
  self.weights = std::move(weights);
  return version;
}
std::int64_t Model::memory_per_call() const
{
  return _implementation->evaluator->memory_per_call(_implementation->threads_of_a_call(), _implementation->solvers);
}
const std::string & Model::backend() const
{
  return _implementation->backend;
}
const std::string & Model::folder() const
{
  return _implementation->artifact.folder;
}

const Description & Model::description() const
{
  return _implementation->description;
}

Evaluation Model::evaluate(const TensorMap & inputs, const EvaluateOptions & options) const
{
  const auto & self = *_implementation;
  if (options.jacobian && self.description.derivative_pairs.empty())
    self.no_derivatives();
  return self.run(inputs, options.jacobian ? Want::JACOBIAN : Want::VALUES, options);
}

std::function<std::shared_ptr<const Failure>()> Model::failing() const
{
  const auto call = _implementation->last_failing();
  if (!call)
    return {};
  return [call, self = _implementation.get()] { return std::shared_ptr<const Failure>(call, &self->look_into(*call)); };
}

std::shared_ptr<const Failure> Model::failure_of(const TensorMap & inputs, const Evaluation & evaluation) const
{
  const auto & self = *_implementation;
  if (const auto call = self.last_failing(); call && call->fits(evaluation))
    return {call, &self.look_into(*call)};
  // Another thread's call failed meanwhile.
  const auto want = evaluation.jacobian.empty()                 ? Want::VALUES
                    : self.description.derivative_pairs.empty() ? Want::PARAM_JACOBIAN
                                                                : Want::JACOBIAN;
  const auto call = std::make_shared<const FailingCall>(self.metadata(), self.arguments_of(inputs), want, evaluation);
  return {call, &self.look_into(*call)};
}

PointVerdict Model::evaluate_point(const double * inputs, double * outputs, double * jacobian) const
{
  const auto & self = *_implementation;
  std::vector<at::Tensor> parameters;
  for (const auto & parameter : self.metadata().parameters)
  {
    const auto & value = parameters.emplace_back(self.parameters.at(parameter.reported).to(at::kCPU));
    if (value.numel() != parameter.size)
      throw FatalError("The parameter '" + parameter.reported +
                       "' has one value for each row of a batch; a law that is "
                       "evaluated for single points needs one value. Set it to that.");
  }
  const auto weights = self.weights_in_use();
  const auto verdict =
      self.evaluator->evaluate_point(parameters, self.solvers, weights.get(), inputs, outputs, jacobian);
  if (verdict.status != Status::CONVERGED)
    self.remember_point(inputs, jacobian ? Want::JACOBIAN : Want::VALUES, verdict);
  return verdict;
}

std::pair<TensorMap, TensorMap> Model::jvp(const TensorMap & inputs, const TensorMap & tangents) const
{
  const auto & self = *_implementation;
  check_names("input", name(), tangents, self.description.input_names, false);
  std::set<std::string> directions;
  for (const auto & [input, tangent] : tangents)
    directions.insert(input);
  // The outputs that have a compiled derivative along some direction must have one along each.
  std::set<std::string> reached;
  for (const auto & pair : self.description.derivative_pairs)
    if (directions.count(pair.input))
      reached.insert(pair.output);
  const auto compiled = [&](const std::string & output, const std::string & input)
  {
    return std::any_of(self.description.derivative_pairs.begin(), self.description.derivative_pairs.end(),
                       [&](const auto & pair) { return pair.output == output && pair.input == input; });
  };
  if (reached.empty() && !directions.empty())
    throw FatalError("The artifact '" + self.artifact.folder + "' has no derivative of any output by " +
                     support::quoted_list({directions.begin(), directions.end()}) +
                     ". Regenerate it via matlaw-compile -d :" + *directions.begin() + ".");
  for (const auto & output : reached)
    for (const auto & input : directions)
      if (!compiled(output, input))
        throw FatalError("The artifact '" + self.artifact.folder + "' has no derivative of '" + output + "' by '" +
                         input + "'. Regenerate it via matlaw-compile -d " + output + ":" + input +
                         ", or leave out the tangent of '" + input + "'.");

  std::map<std::string, const Variable *> variables;
  BatchShape batch;
  for (const auto & variable : self.metadata().inputs)
    if (const auto tangent = tangents.find(variable.reported); tangent != tangents.end())
    {
      check_tensor("Tangent", variable, tangent->second, self.artifact.dtype, self.artifact.device);
      batch.join(variable.reported + " (tangent)", batch_shape(variable, tangent->second));
      variables[variable.reported] = &variable;
    }
  for (const auto & variable : self.metadata().inputs)
    if (const auto input = inputs.find(variable.reported); input != inputs.end())
    {
      check_tensor("Input", variable, input->second, self.artifact.dtype, self.artifact.device);
      batch.join(variable.reported, batch_shape(variable, input->second));
    }
  auto [outputs, blocks] = directions.empty() ? std::pair{forward(inputs), BlockMap{}} : jacobian(inputs);
  TensorMap derivatives;
  for (const auto & output : self.metadata().outputs)
  {
    if (directions.empty())
      derivatives[output.reported] = at::zeros_like(outputs.at(output.reported));
    if (!reached.count(output.reported))
      continue;
    at::Tensor sum;
    for (const auto & [input, variable] : variables)
    {
      const auto rows = batch_shape(output, outputs.at(output.reported));
      auto whole = rows, flat = rows;
      for (const auto & axes : {output.public_shape(), variable->public_shape()})
        whole.insert(whole.end(), axes.begin(), axes.end());
      flat.insert(flat.end(), {output.size, variable->size});
      const auto matrix = blocks.at(output.reported).at(input).expand(whole).reshape(flat);
      const auto own = batch_shape(*variable, tangents.at(input));
      auto full = own, shape = own;
      const auto axes = variable->public_shape();
      full.insert(full.end(), axes.begin(), axes.end());
      shape.insert(shape.end(), {variable->size, 1});
      const auto term = at::matmul(matrix, tangents.at(input).expand(full).reshape(shape)).squeeze(-1);
      sum = sum.defined() ? sum.add(term) : term;
    }
    auto shape = sum.sizes().slice(0, std::size_t(sum.dim()) - 1).vec();
    const auto axes = output.public_shape();
    shape.insert(shape.end(), axes.begin(), axes.end());
    derivatives[output.reported] = sum.reshape(shape);
  }
  return {std::move(outputs), std::move(derivatives)};
}

void Model::set_parameter(const std::string & name, const at::Tensor & value)
{
  auto & self = *_implementation;
  check_names("promoted parameter", this->name(), {{name, value}}, self.parameter_names, false);
  for (const auto & parameter : self.metadata().parameters)
    if (parameter.reported == name)
    {
      check_tensor("Parameter", parameter, value, self.artifact.dtype, self.artifact.device);
      if (!at::isfinite(value).all().item<bool>())
        throw InputError("Parameter '" + name + "' of model '" + this->name() + "' cannot be NaN or infinite.", name,
                         -1);
      auto shape = batch_shape(parameter, value);
      const auto own = parameter.public_shape();
      shape.insert(shape.end(), own.begin(), own.end());
      self.parameters[name] = value.detach().expand(shape).clone(at::MemoryFormat::Contiguous);
    }
}

solve::NewtonConfig Model::solver_config(const std::string & update) const
{
  return _implementation->solvers[updates_of(update).front()];
}

void Model::set_solver_config(const solve::NewtonConfig & config, const std::string & update)
{
  auto & self = *_implementation;
  const auto numbers = updates_of(update);
  solve::check(config);
  auto changed = self.solvers;
  for (const auto i : numbers)
    changed[i] = config;
  // Graphs and structure serve one kind of linear solver each; where updates differ, each keeps its kind.
  const auto keep_kind = [&](std::optional<solve::KrylovConfig> solve::NewtonConfig::* solver, const char * what)
  {
    bool any = false;
    for (const auto i : numbers)
    {
      const bool fits = (config.*solver).has_value() == (self.solvers[i].*solver).has_value();
      any |= fits;
      if (!fits)
        changed[i].*solver = self.solvers[i].*solver;
    }
    if (!any)
      throw FatalError("Model '" + name() + "' was compiled with a " +
                       (config.*solver ? "direct linear solver" : "Krylov solver") + what +
                       ": its graphs serve that kind only. Compile it with another to change that.");
  };
  keep_kind(&solve::NewtonConfig::krylov, "");
  keep_kind(&solve::NewtonConfig::input_sensitivity, " for derivatives by inputs");
  keep_kind(&solve::NewtonConfig::param_sensitivity, " for derivatives by parameters");
  self.evaluator->require_room(changed);
  self.solvers = std::move(changed);
}

BlockMap Model::param_jacobian(const TensorMap & inputs) const
{
  _implementation->need_parameter_derivatives();
  auto evaluation = _implementation->run(inputs, Want::PARAM_JACOBIAN);
  throw_for_rows(inputs, evaluation);
  return std::move(evaluation.jacobian);
}

TensorMap Model::param_vjp(const TensorMap & inputs, const TensorMap & cotangents) const
{
  const auto & self = *_implementation;
  self.need_parameter_derivatives();
  check_names("output", name(), cotangents, self.description.output_names, false);
  auto arguments = self.arguments_of(inputs);
  ParameterGradients gradients(self.metadata(), self.artifact.folder, self.artifact.dtype, self.artifact.device,
                               arguments, cotangents);
  const auto evaluation = self.run(std::move(arguments), Want::PARAM_JACOBIAN, {},
                                   [&](std::int64_t first, std::int64_t rows, const BlockMap & blocks)
                                   { gradients.add(first, rows, blocks); });
  throw_for_rows(inputs, evaluation);
  return gradients.take();
}
}
