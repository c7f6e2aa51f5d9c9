#include "matlaw/host/QuadratureBatch.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>

#include "Snapshot.h"
#include "matlaw/Model.h"

namespace matlaw::host
{
namespace
{
constexpr const char * snapshot_magic = "matlaw QuadratureBatch";
constexpr std::uint64_t snapshot_version = 1;

using Shape = std::vector<std::int64_t>;

std::int64_t count(const Shape & shape)
{
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

Shape join(const Shape & first, const Shape & second)
{
  Shape result = first;
  result.insert(result.end(), second.begin(), second.end());
  return result;
}

std::string list(const std::vector<std::string> & names)
{
  std::string text;
  for (const auto & name : names)
    text += (text.empty() ? "'" : ", '") + name + "'";
  return text.empty() ? "none" : text;
}

at::TensorOptions host_options()
{
  return at::TensorOptions().dtype(at::kDouble).device(at::kCPU);
}

/// How the host sees a tensor of the law; the tensor itself for a float64 law on the CPU.
at::Tensor to_host(const at::Tensor & tensor)
{
  return tensor.detach().to(host_options()).contiguous();
}

std::shared_ptr<const double> share(const at::Tensor & tensor)
{
  const auto keep = std::make_shared<at::Tensor>(tensor);
  return {keep, keep->const_data_ptr<double>()};
}

bool has_block(const Evaluation & evaluation, const std::pair<std::string, std::string> & pair)
{
  const auto row = evaluation.jacobian.find(pair.first);
  return row != evaluation.jacobian.end() && row->second.count(pair.second);
}

/// Where the batch stands between two commits.
enum class Step
{
  NOT_EVALUATED,
  EVALUATED,
  INPUTS_CHANGED,
  COMMITTED
};
}

/// Tensors are never written to once something else holds them: states may then alias outputs and outputs may be
/// shared.
class QuadratureBatch::Impl
{
public:
  Impl(std::shared_ptr<Model> model, std::int64_t n_points);

  /// Values that the host set: double, on the CPU.
  struct InputValue
  {
    /// (n_points, *shape), or (*shape) for a constant
    at::Tensor values;
    bool constant = false;
  };

  std::string law() const { return "QuadratureBatch of law '" + model->name() + "'"; }
  const Shape & shape(const std::string & variable) const;
  const Shape & base_shape(const std::string & input) const;
  void require(const std::vector<std::string> & names, const std::string & name, const char * kind) const;
  void set_input(const std::string & name, const double * values, bool constant);
  const Verdict & evaluate(bool tangent);
  const Evaluation & evaluated() const;
  const at::Tensor & output(const std::string & name) const;
  const at::Tensor & tangent(const std::string & out, const std::string & in) const;
  const at::Tensor & state(const std::string & name) const;
  void commit();
  void revert();
  void set_state(const std::string & name, const double * values);
  std::vector<std::byte> save() const;
  void restore(std::span<const std::byte> bytes);
  void resize(std::int64_t rows);

  std::shared_ptr<Model> model;
  std::int64_t n_points;
  std::vector<std::string> input_names;
  std::vector<std::string> state_names;
  std::vector<std::pair<std::string, std::string>> tangent_names;
  Verdict verdict;

private:
  Shape batched(const Shape & shape) const { return join({n_points}, shape); }
  at::Tensor to_law(const at::Tensor & tensor) const;
  at::Tensor law_input(const InputValue & value, const Shape & shape) const;
  at::Tensor initial_state(const StatePair & pair, std::int64_t rows) const;
  void drop_results();
  void describe_variables();
  void describe_states();

  std::map<std::string, Shape> _shapes;
  /// Shapes without sub-batch: the column side of a derivative block.
  std::map<std::string, Shape> _base_shapes;
  std::map<std::string, InputValue> _inputs;
  std::map<std::string, InputValue> _committed_inputs;
  /// Old variables as the law takes them: (n_points, *shape), dtype and device of the law.
  std::map<std::string, at::Tensor> _states;
  std::optional<Evaluation> _evaluation;
  /// What that was an evaluation of, when it left out some of tangent_names.
  TensorMap _evaluated_inputs;
  bool _has_tangent = false;
  Step _step = Step::NOT_EVALUATED;
  mutable std::map<std::string, at::Tensor> _host_outputs;
  mutable std::map<std::pair<std::string, std::string>, at::Tensor> _host_tangents;
  mutable std::map<std::string, at::Tensor> _host_states;
  /// Derivatives that tangent() was asked for: those that the next evaluate() computes.
  mutable std::set<std::pair<std::string, std::string>> _asked;
};

QuadratureBatch::Impl::Impl(std::shared_ptr<Model> law_model, std::int64_t rows)
    : model(std::move(law_model)),
      n_points(rows)
{
  if (!model)
    throw FatalError("QuadratureBatch: no model was given");
  if (n_points < 0)
    throw FatalError(law() + ": n_points must not be negative, got " + std::to_string(n_points));
  describe_variables();
  describe_states();
}

void QuadratureBatch::Impl::describe_variables()
{
  for (std::size_t i = 0; i < model->input_names().size(); ++i)
  {
    const std::string & name = model->input_names()[i];
    _shapes[name] = join(model->input_sub_batch_shapes()[i], model->input_base_shapes()[i]);
    _base_shapes[name] = model->input_base_shapes()[i];
  }
  for (std::size_t i = 0; i < model->output_names().size(); ++i)
    _shapes[model->output_names()[i]] = join(model->output_sub_batch_shapes()[i], model->output_base_shapes()[i]);
  for (const DerivativePair & pair : model->derivative_pairs())
    if (_base_shapes.count(pair.input))
      tangent_names.emplace_back(pair.output, pair.input);
}

void QuadratureBatch::Impl::describe_states()
{
  for (const StatePair & pair : model->state_pairs())
  {
    require(model->input_names(), pair.old, "input (the old variable of a state pair)");
    require(pair.is_state ? model->output_names() : model->input_names(), pair.current,
            pair.is_state ? "output (the current variable of a state pair)"
                          : "input (the current variable of a state pair)");
    if (_shapes.at(pair.current) != _shapes.at(pair.old))
      throw FatalError(law() + ": '" + pair.current + "' cannot feed '" + pair.old + "', their shapes differ");
    if (static_cast<std::int64_t>(pair.initial.size()) != count(_shapes.at(pair.old)))
      throw FatalError(law() + ": the initial value of '" + pair.old + "' has " + std::to_string(pair.initial.size()) +
                       " components, expected " + std::to_string(count(_shapes.at(pair.old))));
    state_names.push_back(pair.old);
    _states[pair.old] = initial_state(pair, n_points);
  }
  for (const auto & name : model->input_names())
    if (!_states.count(name))
      input_names.push_back(name);
}

at::Tensor QuadratureBatch::Impl::to_law(const at::Tensor & tensor) const
{
  return tensor.to(at::TensorOptions().dtype(model->dtype()).device(model->device()));
}

at::Tensor QuadratureBatch::Impl::law_input(const InputValue & value, const Shape & shape) const
{
  const at::Tensor values = to_law(value.values);
  return value.constant ? values.expand(batched(shape)) : values;
}

at::Tensor QuadratureBatch::Impl::initial_state(const StatePair & pair, std::int64_t rows) const
{
  const Shape & shape = _shapes.at(pair.old);
  const at::Tensor one = at::empty(shape, host_options());
  std::copy(pair.initial.begin(), pair.initial.end(), one.mutable_data_ptr<double>());
  return to_law(one).expand(join({rows}, shape)).contiguous();
}

const Shape & QuadratureBatch::Impl::shape(const std::string & variable) const
{
  const auto found = _shapes.find(variable);
  if (found == _shapes.end())
    throw FatalError(law() + " has no variable '" + variable + "'; inputs: " + list(model->input_names()) +
                     "; outputs: " + list(model->output_names()));
  return found->second;
}

const Shape & QuadratureBatch::Impl::base_shape(const std::string & input) const
{
  require(model->input_names(), input, "input");
  return _base_shapes.at(input);
}

void QuadratureBatch::Impl::require(const std::vector<std::string> & names, const std::string & name,
                                    const char * kind) const
{
  if (std::find(names.begin(), names.end(), name) == names.end())
    throw FatalError(law() + " has no " + kind + " '" + name + "'; there are: " + list(names));
}

void QuadratureBatch::Impl::drop_results()
{
  _evaluation.reset();
  _evaluated_inputs.clear();
  _step = Step::NOT_EVALUATED;
  _host_outputs.clear();
  _host_tangents.clear();
}

void QuadratureBatch::Impl::set_input(const std::string & name, const double * values, bool constant)
{
  if (_states.count(name))
    throw FatalError(law() + ": '" + name + "' is an old variable that commit() feeds; use set_state to replace it");
  require(input_names, name, "input");
  InputValue & input = _inputs[name];
  const Shape wanted = constant ? shape(name) : batched(shape(name));
  if (!input.values.defined() || input.values.use_count() > 1 || input.values.storage().use_count() > 1 ||
      input.values.sizes() != at::IntArrayRef(wanted))
    input.values = at::empty(wanted, host_options());
  input.constant = constant;
  if (input.values.numel() > 0)
    std::memcpy(input.values.mutable_data_ptr<double>(), values,
                sizeof(double) * static_cast<std::size_t>(input.values.numel()));
  if (_step == Step::EVALUATED)
    _step = Step::INPUTS_CHANGED;
}

const Verdict & QuadratureBatch::Impl::evaluate(bool tangent)
{
  TensorMap inputs;
  for (const auto & name : input_names)
  {
    const auto found = _inputs.find(name);
    if (found == _inputs.end())
      throw FatalError(law() + ": input '" + name + "' was not set; call set_input before evaluate");
    inputs.emplace(name, law_input(found->second, shape(name)));
  }
  for (const auto & [name, values] : _states)
    inputs.emplace(name, values);
  EvaluateOptions options;
  options.jacobian = tangent;
  if (_asked.size() < tangent_names.size())
    for (const auto & [out, in] : _asked)
      options.pairs.push_back({out, in});
  Evaluation evaluation = model->evaluate(inputs, options);

  Verdict said;
  const at::Tensor status = evaluation.status.to(at::kCPU, at::kChar).contiguous();
  const at::Tensor iterations = evaluation.iterations.to(at::kCPU, at::kInt).contiguous();
  const at::Tensor factors = evaluation.dt_factor.to(at::kCPU, at::kDouble).contiguous();
  said.failed_rows = evaluation.failed_rows;
  said.status.assign(status.const_data_ptr<std::int8_t>(), status.const_data_ptr<std::int8_t>() + status.numel());
  said.iterations.assign(iterations.const_data_ptr<std::int32_t>(),
                         iterations.const_data_ptr<std::int32_t>() + iterations.numel());
  if (factors.numel() > 0)
    said.dt_factor =
        *std::min_element(factors.const_data_ptr<double>(), factors.const_data_ptr<double>() + factors.numel());
  drop_results();
  verdict = std::move(said);
  _evaluation = std::move(evaluation);
  // A compiled law computes all its derivatives at once, so nothing has to be kept for it.
  const auto lacks = [this](const auto & pair) { return !has_block(*_evaluation, pair); };
  if (tangent && std::any_of(tangent_names.begin(), tangent_names.end(), lacks))
    _evaluated_inputs = std::move(inputs);
  _has_tangent = tangent;
  _step = Step::EVALUATED;
  return verdict;
}

const Evaluation & QuadratureBatch::Impl::evaluated() const
{
  if (!_evaluation)
    throw FatalError(law() + ": there are no results; call evaluate first");
  return *_evaluation;
}

const at::Tensor & QuadratureBatch::Impl::output(const std::string & name) const
{
  require(model->output_names(), name, "output");
  const Evaluation & evaluation = evaluated();
  at::Tensor & cached = _host_outputs[name];
  if (!cached.defined())
    cached = to_host(evaluation.outputs.at(name).expand(batched(shape(name))));
  return cached;
}

const at::Tensor & QuadratureBatch::Impl::tangent(const std::string & out, const std::string & in) const
{
  const std::pair key(out, in);
  if (std::find(tangent_names.begin(), tangent_names.end(), key) == tangent_names.end())
  {
    std::vector<std::string> pairs;
    for (const auto & [o, i] : tangent_names)
      pairs.push_back(o + ":" + i);
    throw FatalError(law() + " has no derivative '" + out + ":" + in + "'; there are: " + list(pairs) +
                     ". Compile the law with -d " + out + ":" + in);
  }
  const Evaluation & evaluation = evaluated();
  if (!_has_tangent)
    throw FatalError(law() + ": the last evaluate computed no derivatives; call evaluate with tangent = true");
  _asked.insert(key);
  const auto found = _host_tangents.find(key);
  if (found != _host_tangents.end())
    return found->second;
  const auto block =
      has_block(evaluation, key)
          ? evaluation.jacobian.at(out).at(in)
          : model->evaluate(_evaluated_inputs, {.jacobian = true, .pairs = {{out, in}}}).jacobian.at(out).at(in);
  return _host_tangents[key] = to_host(block.expand(batched(join(shape(out), _base_shapes.at(in)))));
}

const at::Tensor & QuadratureBatch::Impl::state(const std::string & name) const
{
  require(state_names, name, "old variable");
  at::Tensor & cached = _host_states[name];
  if (!cached.defined())
    cached = to_host(_states.at(name));
  return cached;
}

void QuadratureBatch::Impl::commit()
{
  if (!evaluated().ok())
    throw FatalError(law() + ": the step cannot be committed, " + std::to_string(verdict.failed_rows.size()) +
                     " points failed (the first is " + std::to_string(verdict.failed_rows.front()) +
                     "); call revert and try a smaller step");
  if (_step == Step::INPUTS_CHANGED)
    throw FatalError(law() + ": an input was set after the last evaluate; evaluate again before commit");
  if (_step == Step::COMMITTED)
    throw FatalError(law() + ": this step was committed already; evaluate the next one first");
  std::map<std::string, at::Tensor> next;
  for (const StatePair & pair : model->state_pairs())
  {
    if (pair.is_state)
      next[pair.old] = _evaluation->outputs.at(pair.current).detach().expand(batched(shape(pair.old))).contiguous();
    else if (const auto older = _states.find(pair.current); older != _states.end())
      next[pair.old] = older->second;
    else
      next[pair.old] = law_input(_inputs.at(pair.current), shape(pair.old)).contiguous();
  }
  _states = std::move(next);
  _host_states.clear();
  _committed_inputs = _inputs;
  // Results stay readable: hosts write them out after the commit.
  _step = Step::COMMITTED;
}

void QuadratureBatch::Impl::revert()
{
  for (const auto & [name, value] : _committed_inputs)
    _inputs[name] = value;
  drop_results();
}

void QuadratureBatch::Impl::set_state(const std::string & name, const double * values)
{
  require(state_names, name, "old variable");
  const at::Tensor fresh = at::empty(batched(shape(name)), host_options());
  if (fresh.numel() > 0)
    std::memcpy(fresh.mutable_data_ptr<double>(), values, sizeof(double) * static_cast<std::size_t>(fresh.numel()));
  _states[name] = to_law(fresh);
  _host_states.clear();
  drop_results();
}

std::vector<std::byte> QuadratureBatch::Impl::save() const
{
  SnapshotWriter out;
  const auto values = [&](const at::Tensor & tensor)
  { out.reals({tensor.const_data_ptr<double>(), static_cast<std::size_t>(tensor.numel())}); };
  out.text(snapshot_magic);
  out.integer(snapshot_version);
  out.text(model->name());
  out.integer(static_cast<std::uint64_t>(n_points));
  out.integer(state_names.size());
  for (const auto & name : state_names)
  {
    out.text(name);
    out.integer(static_cast<std::uint64_t>(count(shape(name))));
    values(state(name));
  }
  out.integer(_committed_inputs.size());
  for (const auto & [name, value] : _committed_inputs)
  {
    out.text(name);
    out.integer(static_cast<std::uint64_t>(count(shape(name))));
    out.integer(value.constant ? 1 : 0);
    values(value.values);
  }
  return out.finish();
}

void QuadratureBatch::Impl::restore(std::span<const std::byte> bytes)
{
  SnapshotReader in(bytes);
  const auto refuse = [this](const std::string & why) { throw FatalError(law() + ": restore: " + why); };
  if (in.text() != snapshot_magic)
    refuse("these bytes are not a saved QuadratureBatch");
  if (const auto version = in.integer(); version != snapshot_version)
    refuse("the saved state has format version " + std::to_string(version) + ", this matlaw reads version " +
           std::to_string(snapshot_version));
  if (const auto name = in.text(); name != model->name())
    refuse("the saved state belongs to law '" + name + "'");
  if (const auto rows = static_cast<std::int64_t>(in.integer()); rows != n_points)
    refuse("the saved state has " + std::to_string(rows) + " points, this batch has " + std::to_string(n_points) +
           "; resize it first");

  const auto variable = [&](const std::vector<std::string> & known, const char * kind)
  {
    const std::string name = in.text();
    const auto size = static_cast<std::int64_t>(in.integer());
    if (std::find(known.begin(), known.end(), name) == known.end())
      refuse(std::string("the saved ") + kind + " '" + name + "' is unknown to this law, which has: " + list(known));
    if (size != count(shape(name)))
      refuse("the saved '" + name + "' has " + std::to_string(size) + " components, expected " +
             std::to_string(count(shape(name))));
    return name;
  };
  const auto values = [&](const Shape & shape)
  {
    at::Tensor tensor = at::empty(shape, host_options());
    in.reals({tensor.mutable_data_ptr<double>(), static_cast<std::size_t>(tensor.numel())});
    return tensor;
  };

  std::map<std::string, at::Tensor> states;
  for (auto left = in.integer(); left > 0; --left)
  {
    const std::string name = variable(state_names, "old variable");
    states[name] = to_law(values(batched(shape(name))));
  }
  if (states.size() != state_names.size())
    refuse("the saved state has " + std::to_string(states.size()) + " old variables, the law has " +
           std::to_string(state_names.size()) + ": " + list(state_names));
  std::map<std::string, InputValue> inputs;
  for (auto left = in.integer(); left > 0; --left)
  {
    const std::string name = variable(input_names, "input");
    const bool constant = in.integer() != 0;
    inputs[name] = {values(constant ? shape(name) : batched(shape(name))), constant};
  }
  in.finish();

  _states = std::move(states);
  _host_states.clear();
  _committed_inputs = inputs;
  _inputs = std::move(inputs);
  drop_results();
}

void QuadratureBatch::Impl::resize(std::int64_t rows)
{
  if (rows < 0)
    throw FatalError(law() + ": n_points must not be negative, got " + std::to_string(rows));
  if (rows == n_points)
    return;
  std::map<std::string, at::Tensor> states;
  for (const StatePair & pair : model->state_pairs())
  {
    const at::Tensor & old = _states.at(pair.old);
    states[pair.old] =
        rows < n_points ? old.narrow(0, 0, rows).clone() : at::cat({old, initial_state(pair, rows - n_points)}, 0);
  }
  _states = std::move(states);
  _host_states.clear();
  const auto per_point = [](const auto & input) { return !input.second.constant; };
  std::erase_if(_inputs, per_point);
  std::erase_if(_committed_inputs, per_point);
  drop_results();
  n_points = rows;
}

QuadratureBatch::QuadratureBatch(std::shared_ptr<Model> model, std::int64_t n_points)
    : _impl(std::make_unique<Impl>(std::move(model), n_points))
{
}

QuadratureBatch::~QuadratureBatch() = default;
QuadratureBatch::QuadratureBatch(QuadratureBatch &&) noexcept = default;
QuadratureBatch & QuadratureBatch::operator=(QuadratureBatch &&) noexcept = default;

std::int64_t QuadratureBatch::n_points() const noexcept
{
  return _impl->n_points;
}

const std::shared_ptr<Model> & QuadratureBatch::model() const noexcept
{
  return _impl->model;
}

const std::vector<std::string> & QuadratureBatch::input_names() const noexcept
{
  return _impl->input_names;
}

const std::vector<std::string> & QuadratureBatch::output_names() const noexcept
{
  return _impl->model->output_names();
}

const std::vector<std::string> & QuadratureBatch::state_names() const noexcept
{
  return _impl->state_names;
}

const std::vector<std::pair<std::string, std::string>> & QuadratureBatch::tangent_names() const noexcept
{
  return _impl->tangent_names;
}

const std::vector<std::int64_t> & QuadratureBatch::shape(const std::string & variable) const
{
  return _impl->shape(variable);
}

const std::vector<std::int64_t> & QuadratureBatch::base_shape(const std::string & input) const
{
  return _impl->base_shape(input);
}

std::int64_t QuadratureBatch::size(const std::string & variable) const
{
  return count(_impl->shape(variable));
}

namespace
{
void check_length(const QuadratureBatch & batch, const std::string & name, std::size_t got, std::int64_t rows)
{
  const std::int64_t expected = rows * batch.size(name);
  if (static_cast<std::int64_t>(got) != expected)
    throw FatalError("QuadratureBatch: '" + name + "' takes " + std::to_string(expected) + " values (" +
                     std::to_string(rows) + " x " + std::to_string(batch.size(name)) + "), got " + std::to_string(got));
}
}

void QuadratureBatch::set_input(const std::string & name, std::span<const double> values)
{
  check_length(*this, name, values.size(), n_points());
  _impl->set_input(name, values.data(), false);
}

void QuadratureBatch::set_input(const std::string & name, const double * values)
{
  _impl->set_input(name, values, false);
}

void QuadratureBatch::set_constant(const std::string & name, std::span<const double> value)
{
  check_length(*this, name, value.size(), 1);
  _impl->set_input(name, value.data(), true);
}

void QuadratureBatch::set_input(const std::string & name, double value)
{
  set_constant(name, std::span<const double>(&value, 1));
}

const Verdict & QuadratureBatch::evaluate(bool tangent)
{
  return _impl->evaluate(tangent);
}

const Verdict & QuadratureBatch::verdict() const
{
  _impl->evaluated();
  return _impl->verdict;
}

const double * QuadratureBatch::output(const std::string & name) const
{
  return _impl->output(name).const_data_ptr<double>();
}

const double * QuadratureBatch::tangent(const std::string & out, const std::string & in) const
{
  return _impl->tangent(out, in).const_data_ptr<double>();
}

const double * QuadratureBatch::state(const std::string & name) const
{
  return _impl->state(name).const_data_ptr<double>();
}

std::shared_ptr<const double> QuadratureBatch::share_output(const std::string & name) const
{
  return share(_impl->output(name));
}

std::shared_ptr<const double> QuadratureBatch::share_tangent(const std::string & out, const std::string & in) const
{
  return share(_impl->tangent(out, in));
}

std::shared_ptr<const double> QuadratureBatch::share_state(const std::string & name) const
{
  return share(_impl->state(name));
}

void QuadratureBatch::commit()
{
  _impl->commit();
}

void QuadratureBatch::revert()
{
  _impl->revert();
}

void QuadratureBatch::set_state(const std::string & name, std::span<const double> values)
{
  check_length(*this, name, values.size(), n_points());
  _impl->set_state(name, values.data());
}

void QuadratureBatch::set_state(const std::string & name, const double * values)
{
  _impl->set_state(name, values);
}

std::vector<std::byte> QuadratureBatch::save() const
{
  return _impl->save();
}

void QuadratureBatch::restore(std::span<const std::byte> bytes)
{
  _impl->restore(bytes);
}

void QuadratureBatch::resize(std::int64_t n_points)
{
  _impl->resize(n_points);
}
}
