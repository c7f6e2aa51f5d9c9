#include "matlaw/host/Law.h"

#include <algorithm>

#include "matlaw/Failure.h"
#include "matlaw/load_model.h"

namespace matlaw::host
{
namespace
{
std::int64_t product(const std::vector<std::int64_t> & shape)
{
  std::int64_t n = 1;
  for (const std::int64_t extent : shape)
    n *= extent;
  return n;
}

const LawVariable * find(const std::vector<LawVariable> & variables, const std::string & name)
{
  const auto at = std::find_if(variables.begin(), variables.end(), [&](const auto & v) { return v.name == name; });
  return at == variables.end() ? nullptr : &*at;
}

std::string list(const std::vector<LawVariable> & variables)
{
  std::string text;
  for (const auto & variable : variables)
    text += (text.empty() ? "" : ", ") + variable.name + " (" + variable.type + ")";
  return text.empty() ? "none" : text;
}

std::string type_of(const std::vector<std::int64_t> & base_shape)
{
  using Shape = std::vector<std::int64_t>;
  static const std::vector<std::pair<Shape, std::string>> types = {
      {{}, "Scalar"}, {{3}, "Vec"}, {{3, 3}, "R2"}, {{6}, "SR2"}, {{6, 6}, "SSR4"}};
  for (const auto & [shape, type] : types)
    if (shape == base_shape)
      return type;
  return "Tensor";
}

/// Names of variables of type SR2, those with a derivative alone where there are any.
std::vector<std::string> symmetric(const LawDescription & law, bool outputs)
{
  std::vector<std::string> all, differentiated;
  for (const auto & variable : outputs ? law.outputs : law.inputs)
    if (variable.type == "SR2" && variable.sub_batch_shape.empty() && (outputs || !law.is_old(variable.name)))
    {
      all.push_back(variable.name);
      const auto & pairs = law.derivatives;
      if (std::any_of(pairs.begin(), pairs.end(),
                      [&](const auto & pair) { return (outputs ? pair.first : pair.second) == variable.name; }))
        differentiated.push_back(variable.name);
    }
  return differentiated.size() == 1 ? differentiated : all;
}

std::string choose(const LawDescription & law, const std::string & given, bool outputs)
{
  const std::string role = outputs ? "stress" : "strain";
  const auto & variables = outputs ? law.outputs : law.inputs;
  if (!given.empty())
  {
    const auto * variable = find(variables, given);
    if (!variable || variable->type != "SR2" || (!outputs && law.is_old(given)))
      throw FatalError("the law has no " + std::string(outputs ? "output" : "input") + " '" + given +
                       "' of type SR2 that could be the " + role + "; " + law.text());
    return given;
  }
  const auto candidates = symmetric(law, outputs);
  if (candidates.size() == 1)
    return candidates.front();
  if (std::find(candidates.begin(), candidates.end(), role) != candidates.end())
    return role;
  throw FatalError("cannot tell which variable of the law is the " + role + ": name it; " + law.text());
}
}

std::int64_t LawVariable::size() const
{
  return product(base_shape) * product(sub_batch_shape);
}

const LawVariable * LawDescription::input(const std::string & name) const
{
  return find(inputs, name);
}

const LawVariable * LawDescription::output(const std::string & name) const
{
  return find(outputs, name);
}

const LawVariable * LawDescription::parameter(const std::string & name) const
{
  return find(parameters, name);
}

const LawState * LawDescription::state_of(const std::string & old) const
{
  const auto at = std::find_if(states.begin(), states.end(), [&](const auto & state) { return state.old == old; });
  return at == states.end() ? nullptr : &*at;
}

bool LawDescription::has_derivative(const std::string & output, const std::string & input) const
{
  return std::find(derivatives.begin(), derivatives.end(), std::make_pair(output, input)) != derivatives.end();
}

std::string LawDescription::strain(const std::string & given) const
{
  return choose(*this, given, false);
}

std::string LawDescription::stress(const std::string & given) const
{
  return choose(*this, given, true);
}

std::string LawDescription::text() const
{
  std::string pairs;
  for (const auto & [out, in] : derivatives)
    pairs += (pairs.empty() ? "" : ", ") + out + ":" + in;
  return "it has the inputs " + list(inputs) + ", the outputs " + list(outputs) + ", the derivatives " +
         (pairs.empty() ? "none" : pairs) + " and the parameters " + list(parameters);
}

LawDescription describe(const Model & model)
{
  LawDescription law;
  const auto collect = [](const auto & names, const auto & types, const auto & bases, const auto & subs)
  {
    std::vector<LawVariable> variables;
    for (std::size_t i = 0; i < names.size(); ++i)
      variables.push_back({names[i], types[i], bases[i], subs[i]});
    return variables;
  };
  law.inputs =
      collect(model.input_names(), model.input_types(), model.input_base_shapes(), model.input_sub_batch_shapes());
  law.outputs =
      collect(model.output_names(), model.output_types(), model.output_base_shapes(), model.output_sub_batch_shapes());
  for (const auto & [name, value] : model.named_parameters())
    law.parameters.push_back({name, type_of(value.sizes().vec()), value.sizes().vec(), {}});
  for (const auto & pair : model.derivative_pairs())
    law.derivatives.emplace_back(pair.output, pair.input);
  for (const auto & pair : model.state_pairs())
    law.states.push_back({pair.current, pair.old, pair.is_state, pair.initial});
  law.times = model.times();
  return law;
}

std::shared_ptr<Model> load_law(const std::string & path, const std::string & name, const LawOptions & options)
{
  LoadOptions load;
  load.runtime = runtime_from_text(options.runtime);
  load.backend = backend_from_text(options.backend);
  load.threads = options.threads;
  load.extensions = options.extensions;
  try
  {
    load.device = at::Device(options.device);
  }
  catch (const std::exception &)
  {
    throw FatalError("'" + options.device + "' is no device; expected cpu, cuda, cuda:1 ...");
  }
  return load_model(path, name, load);
}

std::string why_failed(const Model & model)
{
  const auto failure = model.last_failure();
  return failure && !failure->rows.empty() ? failure->rows[failure->worst()].text : "";
}
}
