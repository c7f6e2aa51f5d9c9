#include "matlaw/dispatch/DispatchedModel.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <set>

#include <ATen/ExpandUtils.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/isfinite.h>

#include "RowSplit.h"
#include "WorkerPool.h"
#include "aoti/call_checks.h"
#include "matlaw/aoti/Model.h"
#include "matlaw/logging.h"
#include "support/text.h"
#include "support/torch_threads.h"

namespace matlaw::dispatch
{
using artifact::Variable;
using Shape = std::vector<std::int64_t>;

namespace
{
std::vector<Variable> variables(const std::vector<std::string> & names, const std::vector<std::string> & types,
                                const std::vector<Shape> & sub_batch, const std::vector<Shape> & base)
{
  std::vector<Variable> result(names.size());
  for (std::size_t i = 0; i < names.size(); i++)
  {
    result[i].name = result[i].reported = names[i];
    result[i].type = types[i];
    result[i].sub_batch_shape = sub_batch[i];
    result[i].base_shape = base[i];
  }
  return result;
}

/// What the chunks of one call share.
class Progress
{
public:
  bool cancelled() const
  {
    const std::lock_guard lock(_mutex);
    return _cancelled;
  }
  void cancel()
  {
    const std::lock_guard lock(_mutex);
    _cancelled = true;
  }
  void begin()
  {
    const std::lock_guard lock(_mutex);
    _pending++;
  }
  void end()
  {
    const std::lock_guard lock(_mutex);
    if (--_pending == 0)
      _idle.notify_all();
  }
  void fail(ChunkFailure failure, bool fatal)
  {
    const std::lock_guard lock(_mutex);
    _failures.push_back(std::move(failure));
    _cancelled |= fatal;
  }
  void wait()
  {
    std::unique_lock lock(_mutex);
    _idle.wait(lock, [this] { return _pending == 0; });
  }
  std::vector<ChunkFailure> failures()
  {
    std::sort(_failures.begin(), _failures.end(),
              [](const auto & a, const auto & b) { return a.first_row < b.first_row; });
    return std::move(_failures);
  }

private:
  mutable std::mutex _mutex;
  std::condition_variable _idle;
  std::int64_t _pending = 0;
  bool _cancelled = false;
  std::vector<ChunkFailure> _failures;
};

/// Lets calls pass together and an update alone; an update that waits goes before calls that come later.
class Gate
{
public:
  void begin_call()
  {
    std::unique_lock lock(_mutex);
    _changed.wait(lock, [this] { return _updates == 0; });
    _calls++;
  }
  void end_call()
  {
    const std::lock_guard lock(_mutex);
    if (--_calls == 0)
      _changed.notify_all();
  }
  template <typename Action>
  void update(const Action & action)
  {
    std::unique_lock lock(_mutex);
    _updates++;
    _changed.wait(lock, [this] { return _calls == 0; });
    try
    {
      action(); // with the lock: one update at a time
    }
    catch (...)
    {
      end_update();
      throw;
    }
    end_update();
  }

private:
  void end_update()
  {
    if (--_updates == 0)
      _changed.notify_all();
  }

  std::mutex _mutex;
  std::condition_variable _changed;
  std::int64_t _calls = 0, _updates = 0;
};

class Passing
{
public:
  explicit Passing(Gate & gate) : _gate(gate) { _gate.begin_call(); }
  ~Passing() { _gate.end_call(); }
  Passing(const Passing &) = delete;
  Passing & operator=(const Passing &) = delete;

private:
  Gate & _gate;
};

/// Whatever ends a call, its chunks have ended before.
struct WaitAtExit
{
  Progress & progress;
  ~WaitAtExit() { progress.wait(); }
};

void to_device(TensorMap & tensors, const at::Device & device)
{
  for (auto & [name, tensor] : tensors)
    tensor = tensor.to(device);
}

void to_device(BlockMap & blocks, const at::Device & device)
{
  for (auto & [name, row] : blocks)
    to_device(row, device);
}

void to_device(std::pair<TensorMap, TensorMap> & both, const at::Device & device)
{
  to_device(both.first, device);
  to_device(both.second, device);
}

void to_device(Evaluation & evaluation, const at::Device & device)
{
  to_device(evaluation.outputs, device);
  to_device(evaluation.jacobian, device);
  for (auto * tensor :
       {&evaluation.status, &evaluation.iterations, &evaluation.substeps, &evaluation.dt_factor, &evaluation.residual})
    if (tensor->defined())
      *tensor = tensor->to(device);
}
}

struct DispatchedModel::Implementation
{
  Implementation(std::shared_ptr<const Scheduler> scheduler, const at::Device & home)
      : scheduler(std::move(scheduler)),
        home(home)
  {
  }

  std::shared_ptr<const Scheduler> scheduler;
  at::Device home;
  std::vector<std::unique_ptr<Model>> copies;
  Description description;
  std::vector<Variable> inputs, outputs, parameter_variables;
  std::vector<std::string> parameter_names;
  TensorMap parameters;
  Gate gate;
  /// The copies' threads; after them, so that it goes first
  std::unique_ptr<WorkerPool, WorkerPool::Deleter> pool;

  /// The result of a chunk and the copy that gave it.
  template <typename Result>
  struct Part
  {
    std::size_t device = 0;
    std::int64_t first = 0;
    Result result{};
  };

  const Model & law() const { return *copies.front(); }

  void load(const Loader & load_copy)
  {
    for (const auto & config : scheduler->devices())
    {
      copies.push_back(load_copy(config.device));
      if (!copies.back())
        throw FatalError("DispatchedModel: the loader gave no law for device " + config.device.str() + ".");
      const auto & copy = *copies.back();
      const auto subject = "The copy of model '" + copy.name() + "' for device " + config.device.str() + " ";
      if (copy.device().type() != config.device.type())
        throw FatalError(subject + "is on " + copy.device().str() + ".");
      if (copy.name() != law().name() || copy.input_names() != law().input_names() ||
          copy.output_names() != law().output_names() || copy.dtype() != law().dtype() ||
          copy.named_parameters().size() != law().named_parameters().size())
        throw FatalError(subject + "differs from the first one in name, variables, parameters or dtype.");
    }
    description = law().description();
    description.device = home;
    inputs =
        variables(law().input_names(), law().input_types(), law().input_sub_batch_shapes(), law().input_base_shapes());
    outputs = variables(law().output_names(), law().output_types(), law().output_sub_batch_shapes(),
                        law().output_base_shapes());
    for (const auto & [name, value] : law().named_parameters())
    {
      parameters[name] = value.to(home).clone();
      parameter_names.push_back(name);
      auto & variable = parameter_variables.emplace_back();
      variable.name = variable.reported = name;
      variable.base_shape = value.sizes().vec();
    }
    pool.reset(new WorkerPool(scheduler));
  }

  const Variable & parameter(const std::string & name) const
  {
    return *std::find_if(parameter_variables.begin(), parameter_variables.end(),
                         [&](const Variable & variable) { return variable.name == name; });
  }

  bool per_row(const std::string & name) const
  {
    const auto batch = aoti::batch_shape(parameter(name), parameters.at(name));
    return std::any_of(batch.begin(), batch.end(), [](std::int64_t n) { return n != 1; });
  }

  /// Checks tensors by name and joins their batches.
  void join(aoti::BatchShape & batch, const char * what, const std::vector<Variable> & known, const TensorMap & given)
  {
    for (const auto & variable : known)
      if (const auto found = given.find(variable.reported); found != given.end())
      {
        aoti::check_tensor(what, variable, found->second, law().dtype(), home);
        batch.join(variable.reported, aoti::batch_shape(variable, found->second));
      }
  }

  aoti::BatchShape batch_of(const TensorMap & given)
  {
    support::torch_threads(); // before this thread's first operation
    aoti::check_names("input", law().name(), given, law().input_names(), true);
    aoti::BatchShape batch;
    join(batch, "Input", inputs, given);
    for (const auto & variable : parameter_variables)
      batch.join(variable.name, aoti::batch_shape(variable, parameters.at(variable.name)));
    return batch;
  }

  static RowSplit split(const aoti::BatchShape & batch, const std::vector<Variable> & known, const TensorMap & given)
  {
    RowSplit rows(batch);
    for (const auto & variable : known)
      if (const auto found = given.find(variable.reported); found != given.end())
        rows.add(variable, found->second);
    return rows;
  }

  /// Calls `action(model, device, first, rows)` on the workers for all chunks of a call.
  template <typename Result, typename Action>
  std::deque<Part<Result>> run(const aoti::BatchShape & batch, const Action & action)
  {
    const Passing passing(gate);
    RowSplit row_parameters(batch);
    for (const auto & variable : parameter_variables)
      if (per_row(variable.name))
        row_parameters.add(variable, parameters.at(variable.name));

    std::deque<Part<Result>> parts; // an element stays where it is when more come
    Progress progress;
    const auto rows = batch.rows();
    {
      const WaitAtExit wait{progress};
      std::int64_t first = 0;
      do
      {
        const auto assignment = pool->reserve(rows - first);
        if (progress.cancelled())
        {
          pool->release(assignment);
          break;
        }
        auto & part = parts.emplace_back();
        part.device = assignment.device;
        part.first = first;
        progress.begin();
        try
        {
          pool->start(assignment,
                      [this, &part, &progress, &row_parameters, &action, first, rows = assignment.rows]
                      {
                        run_chunk(part, progress, row_parameters, action, first, rows);
                        progress.end();
                      });
        }
        catch (...)
        {
          pool->release(assignment);
          progress.cancel();
          progress.end();
          throw;
        }
        first += assignment.rows;
      } while (first < rows);
    }
    if (auto failures = progress.failures(); !failures.empty())
      throw AggregateError(law().name(), std::move(failures));
    return parts;
  }

  template <typename Result, typename Action>
  void run_chunk(Part<Result> & part, Progress & progress, const RowSplit & row_parameters, const Action & action,
                 std::int64_t first, std::int64_t rows) noexcept
  {
    if (progress.cancelled())
      return;
    const auto & device = scheduler->devices()[part.device].device;
    const auto fail = [&](const char * message, bool fatal)
    { progress.fail({device.str(), first, rows, message, std::current_exception()}, fatal); };
    try
    {
      const at::NoGradGuard no_grad;
      using namespace logging;
      if (enabled(Channel::dispatch, Level::debug))
        write(Channel::dispatch, Level::debug,
              "Model '" + law().name() + "': rows " + std::to_string(first) + " to " +
                  std::to_string(first + rows - 1) + " on " + device.str() + " (worker " + std::to_string(part.device) +
                  ").");
      auto & copy = *copies[part.device];
      // Only this thread uses this copy.
      for (const auto & [name, value] : row_parameters.chunk(first, rows, device))
        copy.set_parameter(name, value);
      part.result = action(static_cast<const Model &>(copy), device, first, rows);
      to_device(part.result, home);
    }
    catch (const ConvergenceError & e)
    {
      fail(e.what(), false);
    }
    catch (const c10::Error & e)
    {
      fail(e.what_without_backtrace(), true);
    }
    catch (const std::exception & e)
    {
      fail(e.what(), true);
    }
    catch (...)
    {
      fail("an exception that is no std::exception", true);
    }
  }

  /// Joins outputs, or what is shaped like outputs.
  template <typename Result, typename Member>
  TensorMap joined_outputs(const std::deque<Part<Result>> & parts, const Shape & batch, const Member & member) const
  {
    TensorMap whole;
    for (const auto & variable : outputs)
    {
      std::vector<at::Tensor> chunks;
      for (const auto & part : parts)
        if (const auto found = member(part.result).find(variable.reported); found != member(part.result).end())
          chunks.push_back(found->second);
      if (!chunks.empty())
        whole.emplace(variable.reported, joined(chunks, batch, variable.public_shape()));
    }
    return whole;
  }

  template <typename Result>
  static at::Tensor joined_rows(const std::deque<Part<Result>> & parts, const Shape & batch,
                                at::Tensor Evaluation::* member)
  {
    std::vector<at::Tensor> chunks;
    for (const auto & part : parts)
    {
      if (!(part.result.*member).defined())
        return {};
      chunks.push_back(part.result.*member);
    }
    return joined(chunks, batch, {});
  }

  /// Joins a block of each chunk; one without rows stays so when all are.
  template <typename Result, typename Find, typename Shared>
  static at::Tensor joined_block(const std::deque<Part<Result>> & parts, const Shape & batch, std::int64_t rows,
                                 const Find & find, const Shared & shared)
  {
    if (std::all_of(parts.begin(), parts.end(), shared))
      return find(parts.front());
    std::vector<at::Tensor> chunks;
    for (std::size_t i = 0; i < parts.size(); i++)
    {
      const auto & block = find(parts[i]);
      const auto end = i + 1 < parts.size() ? parts[i + 1].first : rows;
      auto shape = block.sizes().vec();
      shape.insert(shape.begin(), end - parts[i].first);
      chunks.push_back(shared(parts[i]) ? block.expand(shape) : block);
    }
    return joined(chunks, batch, chunks.front().sizes().slice(1).vec());
  }

  bool batch_independent(std::size_t device, const std::string & output, const std::string & input) const
  {
    const auto & pairs = copies[device]->derivative_pairs();
    return std::any_of(pairs.begin(), pairs.end(), [&](const auto & pair)
                       { return pair.output == output && pair.input == input && pair.batch_independent; });
  }
};

DispatchedModel::DispatchedModel(std::shared_ptr<const Scheduler> scheduler, const Loader & load,
                                 const at::Device & home)
    : _implementation(std::make_unique<Implementation>(std::move(scheduler), home))
{
  if (!_implementation->scheduler)
    throw FatalError("DispatchedModel: the scheduler is a null pointer.");
  _implementation->load(load);
}
DispatchedModel::~DispatchedModel() = default;

const Scheduler & DispatchedModel::scheduler() const noexcept
{
  return *_implementation->scheduler;
}
const Model & DispatchedModel::copy(std::size_t device) const
{
  return *_implementation->copies.at(device);
}

const Description & DispatchedModel::description() const
{
  return _implementation->description;
}

Evaluation DispatchedModel::evaluate(const TensorMap & inputs, const EvaluateOptions & options) const
{
  const at::NoGradGuard no_grad;
  auto & self = *_implementation;
  const auto batch = self.batch_of(inputs);
  auto rows = Implementation::split(batch, self.inputs, inputs);
  rows.ensure_rows();
  const auto parts =
      self.run<Evaluation>(batch, [&](const Model & law, const at::Device & device, std::int64_t first, std::int64_t n)
                           { return law.evaluate(rows.chunk(first, n, device), options); });
  Evaluation whole;
  const auto & shape = batch.shape();
  whole.outputs = self.joined_outputs(parts, shape, [](const Evaluation & e) -> const auto & { return e.outputs; });
  for (const auto & [output, row] : parts.front().result.jacobian)
    for (const auto & [input, block] : row)
      whole.jacobian[output][input] = Implementation::joined_block(
          parts, shape, batch.rows(), [&, &output = output, &input = input](const auto & part) -> const at::Tensor &
          { return part.result.jacobian.at(output).at(input); },
          [&, &output = output, &input = input](const auto & part)
          { return self.batch_independent(part.device, output, input); });
  whole.status = Implementation::joined_rows(parts, shape, &Evaluation::status);
  whole.iterations = Implementation::joined_rows(parts, shape, &Evaluation::iterations);
  whole.substeps = Implementation::joined_rows(parts, shape, &Evaluation::substeps);
  whole.dt_factor = Implementation::joined_rows(parts, shape, &Evaluation::dt_factor);
  whole.residual = Implementation::joined_rows(parts, shape, &Evaluation::residual);
  whole.weights_version = parts.front().result.weights_version;
  for (const auto & part : parts)
    for (const auto row : part.result.failed_rows)
      whole.failed_rows.push_back(part.first + row);
  return whole;
}

std::pair<TensorMap, TensorMap> DispatchedModel::jvp(const TensorMap & inputs, const TensorMap & tangents) const
{
  const at::NoGradGuard no_grad;
  auto & self = *_implementation;
  auto batch = self.batch_of(inputs);
  aoti::check_names("input", name(), tangents, input_names(), false);
  self.join(batch, "Tangent", self.inputs, tangents);
  auto rows = Implementation::split(batch, self.inputs, inputs);
  rows.ensure_rows();
  const auto directions = Implementation::split(batch, self.inputs, tangents);
  using Both = std::pair<TensorMap, TensorMap>;
  const auto parts =
      self.run<Both>(batch, [&](const Model & law, const at::Device & device, std::int64_t first, std::int64_t n)
                     { return law.jvp(rows.chunk(first, n, device), directions.chunk(first, n, device)); });
  return {self.joined_outputs(parts, batch.shape(), [](const Both & both) -> const auto & { return both.first; }),
          self.joined_outputs(parts, batch.shape(), [](const Both & both) -> const auto & { return both.second; })};
}

const TensorMap & DispatchedModel::named_parameters() const
{
  return _implementation->parameters;
}

void DispatchedModel::set_parameter(const std::string & name, const at::Tensor & value)
{
  const at::NoGradGuard no_grad;
  auto & self = *_implementation;
  aoti::check_names("promoted parameter", this->name(), {{name, value}}, self.parameter_names, false);
  auto variable = self.parameter(name);
  variable.type = "parameter";
  aoti::check_tensor("Parameter", variable, value, dtype(), self.home);
  if (!at::isfinite(value).all().item<bool>())
    throw InputError("Parameter '" + name + "' of model '" + this->name() + "' cannot be NaN or infinite.", name, -1);
  auto kept = value.detach().clone(at::MemoryFormat::Contiguous);
  const auto previous = std::exchange(self.parameters.at(name), std::move(kept));
  // One value per row reaches the copies chunk by chunk.
  if (self.per_row(name))
    return;
  try
  {
    for (std::size_t i = 0; i < self.copies.size(); i++)
      self.copies[i]->set_parameter(name, self.parameters.at(name).to(scheduler().devices()[i].device));
  }
  catch (...)
  {
    self.parameters.at(name) = previous;
    throw;
  }
}

BlockMap DispatchedModel::param_jacobian(const TensorMap & inputs) const
{
  const at::NoGradGuard no_grad;
  auto & self = *_implementation;
  const auto batch = self.batch_of(inputs);
  auto rows = Implementation::split(batch, self.inputs, inputs);
  rows.ensure_rows();
  const auto parts =
      self.run<BlockMap>(batch, [&](const Model & law, const at::Device & device, std::int64_t first, std::int64_t n)
                         { return law.param_jacobian(rows.chunk(first, n, device)); });
  BlockMap whole;
  for (const auto & output : self.outputs)
  {
    const auto row = parts.front().result.find(output.reported);
    if (row == parts.front().result.end())
      continue;
    for (const auto & [parameter, block] : row->second)
    {
      const auto ndim = std::int64_t(output.public_shape().size() + self.parameter(parameter).base_shape.size());
      const auto find = [&, &parameter = parameter](const auto & part) -> const at::Tensor &
      { return part.result.at(output.reported).at(parameter); };
      whole[output.reported][parameter] = Implementation::joined_block(
          parts, batch.shape(), batch.rows(), find, [&](const auto & part) { return find(part).dim() == ndim; });
    }
  }
  return whole;
}

TensorMap DispatchedModel::param_vjp(const TensorMap & inputs, const TensorMap & cotangents) const
{
  const at::NoGradGuard no_grad;
  auto & self = *_implementation;
  aoti::check_names("output", name(), cotangents, output_names(), false);
  const auto batch = self.batch_of(inputs);
  auto with_cotangents = batch;
  self.join(with_cotangents, "Cotangent", self.outputs, cotangents);
  if (with_cotangents.shape() != batch.shape())
    throw FatalError("The cotangents have together with the inputs the batch " +
                     support::shape_text(with_cotangents.shape()) + ", which is not that of the call, " +
                     support::shape_text(batch.shape()) + ".");
  auto rows = Implementation::split(batch, self.inputs, inputs);
  rows.ensure_rows();
  const auto weights = Implementation::split(batch, self.outputs, cotangents);
  const auto parts =
      self.run<TensorMap>(batch, [&](const Model & law, const at::Device & device, std::int64_t first, std::int64_t n)
                          { return law.param_vjp(rows.chunk(first, n, device), weights.chunk(first, n, device)); });
  TensorMap whole;
  for (const auto & [name, value] : parts.front().result)
  {
    const auto shape = self.parameters.at(name).sizes().vec();
    std::vector<at::Tensor> chunks;
    for (const auto & part : parts)
      chunks.push_back(part.result.at(name));
    if (self.per_row(name))
    {
      whole[name] = at::sum_to(joined(chunks, batch.shape(), self.parameter(name).base_shape), shape);
      continue;
    }
    auto sum = chunks.front();
    for (std::size_t i = 1; i < chunks.size(); i++)
      sum = sum.add(chunks[i]);
    whole[name] = sum.reshape(shape);
  }
  return whole;
}

const std::vector<WeightInfo> & DispatchedModel::weight_infos() const
{
  return _implementation->law().weight_infos();
}

std::shared_ptr<const WeightSet> DispatchedModel::weights() const
{
  return _implementation->law().weights();
}

std::uint64_t DispatchedModel::install_weights(std::shared_ptr<WeightSet> weights)
{
  std::uint64_t version = 0;
  _implementation->gate.update(
      [&]
      {
        for (const auto & copy : _implementation->copies)
          version = copy->install_weights(weights);
      });
  return version;
}

solve::NewtonConfig DispatchedModel::solver_config() const
{
  return _implementation->copies.front()->solver_config();
}

void DispatchedModel::set_solver_config(const solve::NewtonConfig & config)
{
  for (const auto & copy : _implementation->copies)
    copy->set_solver_config(config);
}

std::unique_ptr<DispatchedModel> load_model(const std::string & path, const std::string & name,
                                            std::shared_ptr<const Scheduler> scheduler, const LoadOptions & options)
{
  const auto load = [&](const at::Device & device)
  {
    auto own = options;
    own.device = device;
    return matlaw::load_model(path, name, own);
  };
  return std::make_unique<DispatchedModel>(std::move(scheduler), load, options.device);
}
}
