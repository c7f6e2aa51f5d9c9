#include "Binding.h"

#include <algorithm>
#include <map>
#include <utility>

#include "matlaw/errors.h"
#include "support/text.h"

namespace matlaw::umat
{
bool follows_strain(Quantity quantity)
{
  return quantity == Quantity::STRAIN || quantity == Quantity::STRAIN_INCREMENT || quantity == Quantity::STRAIN_RATE ||
         quantity == Quantity::DEFORMATION_GRADIENT;
}

namespace
{
const Source & source_of(const Settings & settings, const std::map<std::string, Source> & sources, const char * kind,
                         const Variable & variable)
{
  const auto found = sources.find(variable.name);
  if (found == sources.end())
    throw FatalError(settings.path + ": [Umat] " + kind + " does not say what the law's '" + variable.name + "' (" +
                     variable.type + ") is. Write the settings again with matlaw-umat, or add a line " + variable.name +
                     " = '...' there.");
  return found->second;
}

void check_type(const Variable & variable, const Source & source, const std::string & place)
{
  std::int64_t size = 1;
  switch (source.quantity)
  {
  case Quantity::STRAIN:
  case Quantity::OLD_STRAIN:
  case Quantity::STRAIN_INCREMENT:
  case Quantity::STRAIN_RATE:
  case Quantity::STRESS:
    if (variable.type != "SR2" || variable.size != 6)
      throw FatalError(place + ": a strain or stress is one SR2, but '" + variable.name + "' is a " + variable.type +
                       " of " + std::to_string(variable.size) + " components.");
    return;
  case Quantity::DEFORMATION_GRADIENT:
  case Quantity::OLD_DEFORMATION_GRADIENT:
    size = 9;
    break;
  case Quantity::SPIN:
    size = 3;
    break;
  case Quantity::CONSTANT:
    size = std::int64_t(source.constant.size());
    break;
  case Quantity::PREDEF:
  case Quantity::OLD_PREDEF:
  case Quantity::PROPS:
  case Quantity::STATEV:
  case Quantity::UNUSED:
    return;
  default:
    break;
  }
  if (variable.size != size)
    throw FatalError(place + ": what is given there has " + std::to_string(size) + " components, '" + variable.name +
                     "' (" + variable.type + ") has " + std::to_string(variable.size) + ".");
}

}

void Binding::check_not_written(const std::string & path, const Written & entries) const
{
  for (const auto & other : written)
    if (entries.first <= other.last && other.first <= entries.last)
      throw FatalError(path + ": [Umat]: " + other.what + " and " + entries.what + " are both written to entry " +
                       std::to_string(std::max(entries.first, other.first)) +
                       " of STATEV; give each entries of its own.");
}

Binding bind(const Settings & settings, const Law & law)
{
  Binding found;
  const auto check_names = [&](const auto & entries, const char * kind, const std::vector<std::string> & known)
  {
    for (const auto & [name, entry] : entries)
      if (std::find(known.begin(), known.end(), name) == known.end())
        throw FatalError(settings.path + ": [Umat] " + kind + " " + name + ": the law has no such variable; it has " +
                         support::quoted_list(known) + "." + support::did_you_mean(name, known));
  };
  const auto names = [](const std::vector<Variable> & variables)
  {
    std::vector<std::string> all;
    for (const auto & variable : variables)
      all.push_back(variable.name);
    return all;
  };
  check_names(settings.inputs, "inputs", names(law.inputs()));
  check_names(settings.initial, "initial", names(law.inputs()));
  check_names(settings.outputs, "outputs", names(law.outputs()));
  check_names(settings.parameters, "parameters", law.parameter_names());
  const auto use = [](int & largest, int entry, std::int64_t size)
  { largest = std::max(largest, entry + int(size) - 1); };

  bool starts = false;
  for (const auto & variable : law.inputs())
  {
    const auto & source = source_of(settings, settings.inputs, "inputs", variable);
    const auto place = settings.path + ": [Umat] inputs " + variable.name;
    check_type(variable, source, place);
    if (source.quantity == Quantity::UNUSED)
      throw FatalError(place + ": an input cannot be 'unused'; 'value 0' gives it a constant.");
    if (source.quantity == Quantity::STATEV)
      use(found.n_statev, source.entry, variable.size);
    if (source.quantity == Quantity::PROPS)
      use(found.n_props, source.entry, variable.size);
    found.by_deformation_gradient |= source.quantity == Quantity::DEFORMATION_GRADIENT;
    Binding::Input input{variable, source, {}};
    if (source.quantity == Quantity::STATEV)
      input.initial = law.initial(variable.name);
    if (const auto given = settings.initial.find(variable.name); given != settings.initial.end())
    {
      if (source.quantity != Quantity::STATEV || std::int64_t(given->second.size()) != variable.size)
        throw FatalError(settings.path + ": [Umat] initial " + variable.name + ": expected " +
                         std::to_string(variable.size) + " numbers, for an input that comes from STATEV.");
      input.initial = given->second;
    }
    if (std::all_of(input.initial.begin(), input.initial.end(), [](double x) { return x == 0.0; }))
      input.initial.clear();
    starts |= !input.initial.empty();
    found.inputs.push_back(std::move(input));
  }
  if (starts && settings.started == 0)
    throw FatalError(settings.path +
                     ": [Umat] started is missing: the state of the law does not start from zero, so an "
                     "entry of STATEV has to tell that it has started ('statev' and its number).");
  use(found.n_statev, settings.started, 1);
  const auto write = [&](const std::string & what, int first, std::int64_t size)
  {
    const Binding::Written entries{what, first, first + int(size) - 1};
    found.check_not_written(settings.path, entries);
    found.written.push_back(entries);
  };
  if (settings.started > 0)
    write("started", settings.started, 1);
  for (const auto & [name, source] : settings.parameters)
  {
    if (source.quantity != Quantity::PROPS && source.quantity != Quantity::CONSTANT)
      throw FatalError(settings.path + ": [Umat] parameters " + name +
                       ": a parameter of the law is set from 'props' and an entry, or from 'value' and a number.");
    use(found.n_props, source.entry, 1);
  }

  const Variable * stress = nullptr;
  for (const auto & variable : law.outputs())
  {
    const auto & source = source_of(settings, settings.outputs, "outputs", variable);
    const auto place = settings.path + ": [Umat] outputs " + variable.name;
    check_type(variable, source, place);
    if (source.quantity == Quantity::STATEV)
    {
      use(found.n_statev, source.entry, variable.size);
      write("'" + variable.name + "'", source.entry, variable.size);
    }
    else if (source.quantity == Quantity::STRESS)
    {
      if (stress)
        throw FatalError(place + ": '" + stress->name + "' is the stress already.");
      stress = &variable;
    }
    else if (source.quantity != Quantity::UNUSED)
      throw FatalError(place + ": an output is the 'stress', goes to 'statev' and an entry, or is 'unused'.");
    found.outputs.push_back({variable, source});
  }
  if (!stress)
    throw FatalError(settings.path + ": [Umat] outputs: no output of the law is the 'stress'.");
  found.stress = stress->offset;

  for (const auto & input : found.inputs)
  {
    if (!follows_strain(input.source.quantity))
      continue;
    const auto tangent = std::find_if(law.blocks().begin(), law.blocks().end(), [&](const auto & block)
                                      { return block.output == stress->name && block.input == input.variable.name; });
    if (tangent == law.blocks().end())
      throw FatalError("The law '" + settings.law + "' was compiled without the derivative " + stress->name + ":" +
                       input.variable.name + " that DDSDDE needs. Compile it with matlaw-compile -d " + stress->name +
                       ":" + input.variable.name + ".");
    found.tangents.push_back({input.source.quantity, *tangent});
  }
  return found;
}
}
