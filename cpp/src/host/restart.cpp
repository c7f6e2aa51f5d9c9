// The bytes of a batch for a restart.
#include <algorithm>

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include "Implementation.h"
#include "Snapshot.h"

namespace matlaw::host
{
namespace
{
constexpr const char * snapshot_magic = "matlaw QuadratureBatch";
constexpr std::uint64_t snapshot_version = 2;

void write(SnapshotWriter & out, const at::Tensor & tensor)
{
  out.reals({tensor.const_data_ptr<double>(), static_cast<std::size_t>(tensor.numel())});
}

at::Tensor read(SnapshotReader & in, const Shape & shape)
{
  at::Tensor tensor = at::empty(shape, host_options());
  in.reals({tensor.mutable_data_ptr<double>(), static_cast<std::size_t>(tensor.numel())});
  return tensor;
}
}

std::vector<std::byte> QuadratureBatch::Impl::save() const
{
  SnapshotWriter out;
  out.text(snapshot_magic);
  out.integer(snapshot_version);
  out.text(model->name());
  out.text(to_text(variables.kinematics().hypothesis));
  out.integer(static_cast<std::uint64_t>(n_points));
  out.integer(_states.size());
  for (const auto & name : variables.states())
  {
    out.text(name);
    out.integer(static_cast<std::uint64_t>(count(variables.law_shape(name))));
    write(out, state(name));
  }
  write(out, _free_strain);
  const auto write_values = [&](const std::map<std::string, Value> & values, const auto & shape)
  {
    out.integer(values.size());
    for (const auto & [name, value] : values)
    {
      out.text(name);
      out.integer(static_cast<std::uint64_t>(count(shape(name))));
      out.integer(value.constant ? 1 : 0);
      write(out, value.values);
    }
  };
  write_values(_committed_inputs, [this](const std::string & name) { return variables.host_shape(name); });
  auto parameters = _parameters;
  std::erase_if(parameters, [](const auto & entry) { return !entry.second.values.defined(); });
  write_values(parameters, [this](const std::string & name) { return parameter_shape(name); });
  return out.finish();
}

void QuadratureBatch::Impl::restore(Span<const std::byte> bytes)
{
  SnapshotReader in(bytes);
  const auto refuse = [this](const std::string & why) { throw FatalError(batch() + ": restore: " + why); };
  if (in.text() != snapshot_magic)
    refuse("these bytes are not a saved QuadratureBatch");
  if (const auto version = in.integer(); version != snapshot_version)
    refuse("the saved state has format version " + std::to_string(version) + ", this matlaw reads version " +
           std::to_string(snapshot_version));
  if (const auto name = in.text(); name != model->name())
    refuse("the saved state belongs to law '" + name + "'");
  if (const auto text = in.text(); text != to_text(variables.kinematics().hypothesis))
    refuse("the saved state is one of the hypothesis '" + text + "', this batch has '" +
           to_text(variables.kinematics().hypothesis) + "'");
  if (const auto rows = static_cast<std::int64_t>(in.integer()); rows != n_points)
    refuse("the saved state has " + std::to_string(rows) + " points, this batch has " + std::to_string(n_points) +
           "; resize it first");

  const auto check_size = [&](const std::string & name, const Shape & shape)
  {
    if (const auto size = static_cast<std::int64_t>(in.integer()); size != count(shape))
      refuse("the saved '" + name + "' has " + std::to_string(size) + " components, expected " +
             std::to_string(count(shape)));
  };
  const auto variable = [&](const std::vector<std::string> & known, const char * kind)
  {
    const std::string name = in.text();
    if (std::find(known.begin(), known.end(), name) == known.end())
      refuse(std::string("the saved ") + kind + " '" + name + "' is unknown to this law, which has: " + list(known));
    return name;
  };
  const auto value = [&](const Shape & shape)
  {
    const bool constant = in.integer() != 0;
    return Value{read(in, constant ? shape : batched(shape)), constant};
  };

  std::map<std::string, at::Tensor> states;
  for (auto left = in.integer(); left > 0; --left)
  {
    const std::string name = variable(variables.states(), "old variable");
    check_size(name, variables.law_shape(name));
    states[name] = to_law(read(in, batched(variables.law_shape(name))));
  }
  if (states.size() != variables.states().size())
    refuse("the saved state has " + std::to_string(states.size()) + " old variables, the law has " +
           std::to_string(variables.states().size()) + ": " + list(variables.states()));
  const at::Tensor free_strain = read(in, _free_strain.sizes().vec());
  std::map<std::string, Value> inputs;
  for (auto left = in.integer(); left > 0; --left)
  {
    const std::string name = variable(variables.host_inputs(), "input");
    check_size(name, variables.host_shape(name));
    inputs[name] = value(variables.host_shape(name));
  }
  std::map<std::string, Value> parameters;
  for (auto left = in.integer(); left > 0; --left)
  {
    const std::string name = in.text();
    const Shape shape = parameter_shape(name);
    check_size(name, shape);
    parameters[name] = value(shape);
  }
  in.finish();

  _states = std::move(states);
  _host_states.clear();
  _free_strain = free_strain;
  _committed_inputs = inputs;
  _inputs = std::move(inputs);
  _parameters = std::move(parameters);
  drop_results();
  say(logging::Level::info, [] { return "restored from saved bytes"; });
}
}
