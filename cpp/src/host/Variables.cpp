#include "Variables.h"

#include <algorithm>

#include "matlaw/Model.h"

namespace matlaw::host
{
Variables::Variables(const Model & model, const Kinematics & kinematics) : _law(model.name()), _kinematics(kinematics)
{
  describe(model);
  pair_states(model);
  if (_kinematics.hypothesis != Hypothesis::THREE_DIMENSIONAL)
    reduce(model);
}

std::string Variables::batch() const
{
  return "QuadratureBatch of law '" + _law + "'";
}

void Variables::describe(const Model & model)
{
  _law_inputs = model.input_names();
  _outputs = model.output_names();
  for (std::size_t i = 0; i < _law_inputs.size(); ++i)
  {
    _shapes[_law_inputs[i]] = join(model.input_sub_batch_shapes()[i], model.input_base_shapes()[i]);
    _base_shapes[_law_inputs[i]] = model.input_base_shapes()[i];
  }
  for (std::size_t i = 0; i < _outputs.size(); ++i)
    _shapes[_outputs[i]] = join(model.output_sub_batch_shapes()[i], model.output_base_shapes()[i]);
  for (const DerivativePair & pair : model.derivative_pairs())
    if (_base_shapes.count(pair.input))
      _tangents.emplace_back(pair.output, pair.input);
}

void Variables::pair_states(const Model & model)
{
  for (const StatePair & pair : model.state_pairs())
  {
    require(_law_inputs, pair.old, "input (the old variable of a state pair)");
    require(pair.is_state ? _outputs : _law_inputs, pair.current,
            pair.is_state ? "output (the current variable of a state pair)"
                          : "input (the current variable of a state pair)");
    if (_shapes.at(pair.current) != _shapes.at(pair.old))
      throw FatalError(batch() + ": '" + pair.current + "' cannot feed '" + pair.old + "', their shapes differ");
    if (static_cast<std::int64_t>(pair.initial.size()) != count(_shapes.at(pair.old)))
      throw FatalError(batch() + ": the initial value of '" + pair.old + "' has " +
                       std::to_string(pair.initial.size()) + " components, expected " +
                       std::to_string(count(_shapes.at(pair.old))));
    _states.push_back(pair.old);
  }
  for (const auto & name : _law_inputs)
    if (!is_state(name))
      _host_inputs.push_back(name);
}

std::string Variables::choose(const std::string & given, const std::vector<std::string> & fitting, const char * role,
                              const char * usual) const
{
  const std::string hypothesis = "the hypothesis '" + to_text(_kinematics.hypothesis) + "'";
  if (!given.empty())
  {
    if (std::find(fitting.begin(), fitting.end(), given) == fitting.end())
      throw FatalError(batch() + ": '" + given + "' cannot be the " + role + " of " + hypothesis +
                       "; variables of type SR2 are: " + list(fitting));
    return given;
  }
  if (fitting.size() == 1)
    return fitting.front();
  if (std::find(fitting.begin(), fitting.end(), usual) != fitting.end())
    return usual;
  throw FatalError(batch() + ": cannot tell which variable is the " + role + " of " + hypothesis +
                   "; set Kinematics::" + role + " to one of: " + list(fitting));
}

void Variables::reduce(const Model & model)
{
  std::vector<std::string> strains;
  std::vector<std::string> stresses;
  for (std::size_t i = 0; i < _law_inputs.size(); ++i)
    if (model.input_types()[i] == "SR2" && !is_state(_law_inputs[i]) && _shapes.at(_law_inputs[i]) == Shape{6})
      strains.push_back(_law_inputs[i]);
  for (std::size_t i = 0; i < _outputs.size(); ++i)
    if (model.output_types()[i] == "SR2" && _shapes.at(_outputs[i]) == Shape{6})
      stresses.push_back(_outputs[i]);
  _kinematics.strain = choose(_kinematics.strain, strains, "strain", "strain");
  _kinematics.stress = choose(_kinematics.stress, stresses, "stress", "stress");
  _reduced = {static_cast<std::int64_t>(host_components(_kinematics.hypothesis).size())};
  if (stress_free_components(_kinematics.hypothesis).empty())
    return;
  if (!(_kinematics.tolerance > 0.0) || _kinematics.max_iterations < 1)
    throw FatalError(batch() + ": Kinematics takes a tolerance above 0 and max_iterations of 1 or more");
  const std::pair needed(_kinematics.stress, _kinematics.strain);
  if (std::find(_tangents.begin(), _tangents.end(), needed) == _tangents.end())
    throw FatalError(batch() + ": the hypothesis '" + to_text(_kinematics.hypothesis) + "' needs the derivative '" +
                     needed.first + ":" + needed.second + "'. Compile the law with -d " + needed.first + ":" +
                     needed.second);
}

bool Variables::is_state(const std::string & name) const
{
  return std::find(_states.begin(), _states.end(), name) != _states.end();
}

bool Variables::is_reduced(const std::string & name) const
{
  return !_reduced.empty() && (name == _kinematics.strain || name == _kinematics.stress);
}

const Shape & Variables::law_shape(const std::string & variable) const
{
  const auto found = _shapes.find(variable);
  if (found == _shapes.end())
    throw FatalError(batch() + " has no variable '" + variable + "'; inputs: " + list(_law_inputs) +
                     "; outputs: " + list(_outputs));
  return found->second;
}

const Shape & Variables::host_shape(const std::string & variable) const
{
  return is_reduced(variable) ? _reduced : law_shape(variable);
}

const Shape & Variables::law_base_shape(const std::string & input) const
{
  require(_law_inputs, input, "input");
  return _base_shapes.at(input);
}

const Shape & Variables::host_base_shape(const std::string & input) const
{
  return is_reduced(input) ? _reduced : law_base_shape(input);
}

Shape Variables::law_block_shape(const std::string & output, const std::string & input) const
{
  return join(law_shape(output), law_shape(input));
}

void Variables::require(const std::vector<std::string> & names, const std::string & name, const char * kind) const
{
  if (std::find(names.begin(), names.end(), name) == names.end())
    throw FatalError(batch() + " has no " + kind + " '" + name + "'; there are: " + list(names));
}

void Variables::require_input(const std::string & name) const
{
  if (is_state(name))
    throw FatalError(batch() + ": '" + name + "' is an old variable that commit() feeds; use set_state to replace it");
  require(_host_inputs, name, "input");
}

void Variables::require_output(const std::string & name) const
{
  require(_outputs, name, "output");
}

void Variables::require_state(const std::string & name) const
{
  require(_states, name, "old variable");
}

void Variables::require_tangent(const std::string & output, const std::string & input) const
{
  if (std::find(_tangents.begin(), _tangents.end(), std::pair(output, input)) != _tangents.end())
    return;
  std::vector<std::string> pairs;
  for (const auto & [o, i] : _tangents)
    pairs.push_back(o + ":" + i);
  throw FatalError(batch() + " has no derivative '" + output + ":" + input + "'; there are: " + list(pairs) +
                   ". Compile the law with -d " + output + ":" + input);
}
}
