#include "matlaw/dispatch/DispatchedModel.h"

#include <algorithm>
#include <mutex>
#include <set>
#include <utility>

#include <ATen/ExpandUtils.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>

#include "Copies.h"
#include "FailedChunks.h"
#include "Gate.h"
#include "RowSplit.h"
#include "aoti/call_checks.h"
#include "diagnosis/take_rows.h"
#include "on_device.h"
#include "parts.h"
#include "support/text.h"
#include "support/torch_threads.h"

namespace matlaw::dispatch
{
using artifact::Variable;
using Shape = std::vector<std::int64_t>;

static std::vector<Variable> variables(const std::vector<std::string> & names, const std::vector<std::string> & types,
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

struct DispatchedModel::Implementation
{
  Implementation(std::shared_ptr<const Scheduler> scheduler, const Loader & load, const at::Device & home)
      : home(home),
        copies(std::move(scheduler), load)
  {
    const auto & law = copies[0];
    description = law.description();
    description.device = home;
    inputs = variables(law.input_names(), law.input_types(), law.input_sub_batch_shapes(), law.input_base_shapes());
    outputs =
        variables(law.output_names(), law.output_types(), law.output_sub_batch_shapes(), law.output_base_shapes());
    for (const auto & [name, value] : law.named_parameters())
    {
      parameters[name] = value.to(home).clone();
      parameter_names.push_back(name);
      auto & variable = parameter_variables.emplace_back();
      variable.name = variable.reported = name;
      variable.base_shape = value.sizes().vec();
    }
  }

  at::Device home;
  Copies copies;
  Description description;
  std::vector<Variable> inputs, outputs, parameter_variables;
  std::vector<std::string> parameter_names;
  TensorMap parameters;
  Gate gate;
  std::mutex failing_mutex;
  /// The last call in which rows failed
  std::shared_ptr<const FailedChunks> failing;

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
  void join(aoti::BatchShape & batch, const char * what, const std::vector<Variable> & known,
            const TensorMap & given) const
  {
    for (const auto & variable : known)
      if (const auto found = given.find(variable.reported); found != given.end())
      {
        aoti::check_tensor(what, variable, found->second, description.dtype, home);
        batch.join(variable.reported, variable, found->second);
      }
  }

  static RowSplit split(const aoti::BatchShape & batch, const std::vector<Variable> & known, const TensorMap & given)
  {
    RowSplit rows(batch);
    for (const auto & variable : known)
      if (const auto found = given.find(variable.reported); found != given.end())
        rows.add(variable, found->second);
    return rows;
  }

  /// What every call begins with: its inputs, checked, and with them the tangents of those that have one.
  struct Call
  {
    Call(Implementation & self, const TensorMap & inputs, const TensorMap & tangents = {})
        : self(self),
          given(inputs),
          batch(self.batch_of(inputs, tangents)),
          rows(split(batch, self.inputs, inputs)),
          tangents(split(batch, self.inputs, tangents))
    {
      rows.ensure_rows();
    }

    const Shape & shape() const { return batch.shape(); }
    TensorMap inputs_of(const Chunk & chunk) const { return rows.chunk(chunk.first, chunk.rows, chunk.device); }

    const at::NoGradGuard no_grad;
    Implementation & self;
    const TensorMap & given;
    aoti::BatchShape batch;
    RowSplit rows, tangents;
  };

  aoti::BatchShape batch_of(const TensorMap & given, const TensorMap & tangents) const
  {
    support::torch_threads(); // before this thread's first operation
    aoti::check_names("input", description.name, given, description.input_names, true);
    aoti::check_names("input", description.name, tangents, description.input_names, false);
    aoti::BatchShape batch;
    join(batch, "Input", inputs, given);
    for (const auto & variable : parameter_variables)
      batch.join(variable.name, variable, parameters.at(variable.name));
    join(batch, "Tangent", inputs, tangents);
    batch.refuse_columns();
    return batch;
  }

  /// Calls `action(chunk)` on the workers for all chunks of a call.
  template <typename Result, typename Action>
  Parts<Result> run(const Call & call, const Action & action)
  {
    const Passing passing(gate);
    RowSplit row_parameters(call.batch);
    for (const auto & variable : parameter_variables)
      if (per_row(variable.name))
        row_parameters.add(variable, parameters.at(variable.name));

    Parts<Result> parts;
    std::mutex adding;
    const auto failed = std::make_shared<FailedChunks>();
    const auto run_chunk = [&](const Chunk & chunk)
    {
      Part<Result> part{chunk.number, chunk.rows, action_or_notes(chunk, action, *failed)};
      move_to(part.result, home);
      const std::lock_guard lock(adding);
      parts.emplace(chunk.first, std::move(part));
    };
    const RememberAtExit remember{*this, call, failed};
    copies.run(call.batch.rows(), row_parameters, run_chunk);
    return parts;
  }

  /// Notes which rows of a chunk failed, and who can tell why.
  template <typename Action>
  static auto action_or_notes(const Chunk & chunk, const Action & action, FailedChunks & failed)
  {
    try
    {
      auto result = action(chunk);
      if constexpr (std::is_same_v<decltype(result), Evaluation>)
        if (!result.ok())
          failed.add(chunk.first, result.failed_rows, chunk.law.failing());
      return result;
    }
    catch (const ConvergenceError & e)
    {
      failed.add(chunk.first, e.failed_rows(), chunk.law.failing());
      throw;
    }
  }

  /// However a call ends: keeps what is needed to look into it later. What goes wrong here is not the call's problem.
  struct RememberAtExit
  {
    Implementation & self;
    const Call & call;
    std::shared_ptr<FailedChunks> failed;
    ~RememberAtExit()
    {
      if (failed->empty())
        return;
      try
      {
        self.remember(call, std::move(failed));
      }
      catch (...)
      {
      }
    }
  };

  void remember(const Call & call, std::shared_ptr<FailedChunks> failed)
  {
    std::map<std::string, double> typical;
    for (const auto & variable : inputs)
      typical[variable.reported] =
          diagnosis::median_norm(call.given.at(variable.reported), call.shape(), variable.public_shape());
    std::set<std::string> with_rows;
    for (const auto & name : parameter_names)
      if (per_row(name))
        with_rows.insert(name);
    failed->close(call.batch.rows(), std::move(typical), std::move(with_rows));
    const std::lock_guard lock(failing_mutex);
    failing = std::move(failed);
  }

  std::shared_ptr<const FailedChunks> last_failing()
  {
    const std::lock_guard lock(failing_mutex);
    return failing;
  }

  /// Whether the derivatives that a call asks for are among those that the law lists.
  bool offers(const EvaluateOptions & options) const
  {
    const auto & known = description.derivative_pairs;
    return !options.jacobian ||
           (!known.empty() &&
            std::all_of(options.pairs.begin(), options.pairs.end(),
                        [&](const auto & pair)
                        {
                          return std::any_of(known.begin(), known.end(), [&](const auto & other)
                                             { return other.output == pair.output && other.input == pair.input; });
                        }));
  }

  bool batch_independent(std::size_t device, const std::string & output, const std::string & input)
  {
    const auto & pairs = copies[device].derivative_pairs();
    return std::any_of(pairs.begin(), pairs.end(), [&](const auto & pair)
                       { return pair.output == output && pair.input == input && pair.batch_independent; });
  }
};

DispatchedModel::DispatchedModel(std::shared_ptr<const Scheduler> scheduler, const Loader & load,
                                 const at::Device & home)
    : _implementation(std::make_unique<Implementation>(std::move(scheduler), load, home))
{
}
DispatchedModel::~DispatchedModel() = default;

const Scheduler & DispatchedModel::scheduler() const noexcept
{
  return _implementation->copies.scheduler();
}
const Model & DispatchedModel::copy(std::size_t device) const
{
  return _implementation->copies[device];
}
const Description & DispatchedModel::description() const
{
  return _implementation->description;
}

Evaluation DispatchedModel::evaluate(const TensorMap & inputs, const EvaluateOptions & options) const
{
  auto & self = *_implementation;
  const Implementation::Call call(self, inputs);
  const auto run = [&]
  {
    try
    {
      return self.run<Evaluation>(call, [&](const Chunk & chunk)
                                  { return chunk.law.evaluate(call.inputs_of(chunk), options); });
    }
    catch (const AggregateError & e)
    {
      if (self.offers(options))
        throw;
      // A derivative that the law does not have is refused for any rows: that is no failure of some of them.
      std::rethrow_exception(e.failures().front().error);
    }
  };
  const auto parts = run();
  Evaluation whole;
  whole.outputs =
      joined_outputs(parts, self.outputs, call.shape(), [](const Evaluation & e) -> const auto & { return e.outputs; });
  for (const auto & [output, row] : parts.begin()->second.result.jacobian)
    for (const auto & [input, block] : row)
      whole.jacobian[output][input] = joined_block(
          parts, call.shape(), [&, &output = output, &input = input](const auto & part) -> const at::Tensor &
          { return part.result.jacobian.at(output).at(input); },
          [&, &output = output, &input = input](const auto & part)
          { return self.batch_independent(part.device, output, input); });
  join_verdicts(parts, call.shape(), whole);
  whole.weights_version = parts.begin()->second.result.weights_version;
  return whole;
}

std::function<std::shared_ptr<const Failure>()> DispatchedModel::failing() const
{
  const auto & self = *_implementation;
  const auto failed = _implementation->last_failing();
  if (!failed)
    return {};
  return [failed, home = self.home] { return std::shared_ptr<const Failure>(failed, &failed->look_into(home)); };
}

std::shared_ptr<const Failure> DispatchedModel::failure_of(const TensorMap & inputs,
                                                           const Evaluation & evaluation) const
{
  const auto failed = _implementation->last_failing();
  if (failed && failed->fits(evaluation))
    if (const auto & failure = failed->look_into(_implementation->home); !failure.rows.empty())
      return {failed, &failure};
  // Another thread's call failed meanwhile.
  return Model::failure_of(inputs, evaluation);
}

std::pair<TensorMap, TensorMap> DispatchedModel::jvp(const TensorMap & inputs, const TensorMap & tangents) const
{
  auto & self = *_implementation;
  const Implementation::Call call(self, inputs, tangents);
  using Both = std::pair<TensorMap, TensorMap>;
  const auto parts = self.run<Both>(
      call, [&](const Chunk & chunk)
      { return chunk.law.jvp(call.inputs_of(chunk), call.tangents.chunk(chunk.first, chunk.rows, chunk.device)); });
  const auto join = [&](const auto & map_of) { return joined_outputs(parts, self.outputs, call.shape(), map_of); };
  auto derivatives = join([](const Both & both) -> const auto & { return both.second; });
  // Tangents may have a larger batch than the inputs, whose outputs do not repeat.
  if (self.batch_of(inputs, {}).shape() != call.shape())
    return {forward(inputs), std::move(derivatives)};
  return {join([](const Both & both) -> const auto & { return both.first; }), std::move(derivatives)};
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
  const auto own = self.parameters.at(name).scalar_type();
  auto kept = aoti::parameter_value(this->name(), variable, value, own, self.home).clone(at::MemoryFormat::Contiguous);
  const auto previous = std::exchange(self.parameters.at(name), std::move(kept));
  // One value per row reaches the copies chunk by chunk.
  if (self.per_row(name))
    return;
  try
  {
    for (std::size_t i = 0; i < self.copies.size(); i++)
      self.copies[i].set_parameter(name, self.parameters.at(name).to(scheduler().devices()[i].device));
  }
  catch (...)
  {
    self.parameters.at(name) = previous;
    throw;
  }
}

BlockMap DispatchedModel::param_jacobian(const TensorMap & inputs) const
{
  auto & self = *_implementation;
  const Implementation::Call call(self, inputs);
  const auto parts =
      self.run<BlockMap>(call, [&](const Chunk & chunk) { return chunk.law.param_jacobian(call.inputs_of(chunk)); });
  BlockMap whole;
  const auto & one = parts.begin()->second.result;
  for (const auto & output : self.outputs)
  {
    const auto row = one.find(output.reported);
    if (row == one.end())
      continue;
    for (const auto & [parameter, block] : row->second)
    {
      const auto ndim = std::int64_t(output.public_shape().size() + self.parameter(parameter).base_shape.size());
      const auto block_of = [&, &parameter = parameter](const auto & part) -> const at::Tensor &
      { return part.result.at(output.reported).at(parameter); };
      whole[output.reported][parameter] =
          joined_block(parts, call.shape(), block_of, [&](const auto & part) { return block_of(part).dim() == ndim; });
    }
  }
  return whole;
}

TensorMap DispatchedModel::param_vjp(const TensorMap & inputs, const TensorMap & cotangents) const
{
  auto & self = *_implementation;
  aoti::check_names("output", name(), cotangents, output_names(), false);
  const Implementation::Call call(self, inputs);
  auto with_cotangents = call.batch;
  self.join(with_cotangents, "Cotangent", self.outputs, cotangents);
  if (with_cotangents.shape() != call.shape())
    throw FatalError("The cotangents have together with the inputs the batch " +
                     support::shape_text(with_cotangents.shape()) + ", which is not that of the call, " +
                     support::shape_text(call.shape()) + ".");
  const auto weights = Implementation::split(call.batch, self.outputs, cotangents);
  const auto parts = self.run<TensorMap>(
      call, [&](const Chunk & chunk)
      { return chunk.law.param_vjp(call.inputs_of(chunk), weights.chunk(chunk.first, chunk.rows, chunk.device)); });
  TensorMap whole;
  for (const auto & [name, value] : parts.begin()->second.result)
  {
    const auto shape = self.parameters.at(name).sizes().vec();
    std::vector<at::Tensor> chunks;
    for (const auto & [first, part] : parts)
      chunks.push_back(part.result.at(name));
    if (self.per_row(name))
    {
      whole[name] = at::sum_to(joined(chunks, call.shape(), self.parameter(name).base_shape), shape);
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
  return _implementation->copies[0].weight_infos();
}

std::shared_ptr<const WeightSet> DispatchedModel::weights() const
{
  return _implementation->copies[0].weights();
}

std::uint64_t DispatchedModel::install_weights(std::shared_ptr<WeightSet> weights)
{
  std::uint64_t version = 0;
  _implementation->gate.update(
      [&]
      {
        for (std::size_t i = 0; i < _implementation->copies.size(); i++)
          version = _implementation->copies[i].install_weights(weights);
      });
  return version;
}

solve::NewtonConfig DispatchedModel::solver_config(const std::string & update) const
{
  return _implementation->copies[0].solver_config(update);
}

void DispatchedModel::set_solver_config(const solve::NewtonConfig & config, const std::string & update)
{
  for (std::size_t i = 0; i < _implementation->copies.size(); i++)
    _implementation->copies[i].set_solver_config(config, update);
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
