#include "MatlawMapping.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <mutex>
#include <stdexcept>

#include "MooseEnum.h"

using matlaw::host::LawDescription;
using matlaw::host::LawVariable;
using Names = std::vector<std::string>;

const char * const matlaw_sources = "MATERIAL VARIABLE FUNCTION POSTPROCESSOR TIME";

namespace
{
[[noreturn]] void
wrong(const std::string & what, const LawDescription & law)
{
  throw std::invalid_argument(what + "; of the law: " + law.text());
}

/// How MOOSE keeps a variable.
std::string
mooseType(const LawVariable & variable)
{
  if (!variable.sub_batch_shape.empty())
    return "Tensor";
  const bool triple = variable.type != "Vec" && variable.base_shape == std::vector<std::int64_t>{3};
  return triple ? "Triple" : variable.type;
}

/// Parallel lists have one length.
void
sameLength(const InputParameters & parameters, const std::string & one, const std::string & other)
{
  const auto n = parameters.get<Names>(one).size(), m = parameters.get<Names>(other).size();
  if (n != m)
    throw std::invalid_argument("'" + one + "' has " + std::to_string(n) + " entries and '" + other + "' has " +
                                std::to_string(m) + ": they go in pairs");
}
}

MatlawSource
matlawSource(const std::string & text)
{
  static const std::map<std::string, MatlawSource> sources = {{"MATERIAL", MatlawSource::MATERIAL},
                                                              {"VARIABLE", MatlawSource::VARIABLE},
                                                              {"FUNCTION", MatlawSource::FUNCTION},
                                                              {"POSTPROCESSOR", MatlawSource::POSTPROCESSOR},
                                                              {"TIME", MatlawSource::TIME}};
  const auto at = sources.find(text);
  if (at == sources.end())
    throw std::invalid_argument("'" + text + "' is no source of a variable; expected one of " + matlaw_sources);
  return at->second;
}

InputParameters
MatlawMapping::lawParams()
{
  InputParameters params = emptyInputParameters();
  params.addRequiredParam<FileName>(
      "input", "The law: stub (<model>_aoti.i), artifact folder, metadata.json, or an input file of matlaw");
  params.addParam<std::string>("model", "model", "Name of the model in that file");
  MooseEnum runtime("auto aoti eager", "auto");
  params.addParam<MooseEnum>("runtime",
                             runtime,
                             "What evaluates the law: auto takes a compiled law as it is and Python for other files; "
                             "aoti allows compiled laws only; eager always takes Python");
  MooseEnum backend("auto native inductor", "auto");
  params.addParam<MooseEnum>("backend", backend, "Which code of a compiled law runs");
  params.addParam<std::string>("device", "cpu", "Where the law runs: cpu, cuda, cuda:1 ...");
  params.addParam<unsigned int>(
      "law_threads", 0, "Threads of one call of the law. 0: MATLAW_NUM_THREADS, else torch's number of threads");
  params.addParam<Names>("extensions", Names(), "Python files or packages with further model types, for eager laws");
  // The [Matlaw] block: laws whose parameters are set are not shared.
  params.addPrivateParam<std::string>("owner", "");
  return params;
}

InputParameters
MatlawMapping::mappingParams()
{
  InputParameters params = emptyInputParameters();
  params.addParam<Names>("law_inputs", Names(), "Inputs of the law that moose_inputs are for");
  params.addParam<Names>("moose_inputs", Names(), "Property, variable, function or postprocessor for each of law_inputs");
  params.addParam<Names>("moose_input_types",
                         Names(),
                         std::string("What each of moose_inputs is: ") + matlaw_sources +
                             ". Without it: a variable or else a function of that name, else a property");
  params.addParam<Names>("law_parameters", Names(), "Parameters of the law that take their values from MOOSE");
  params.addParam<Names>("moose_parameters", Names(), "Property, variable, function or postprocessor for each of them");
  params.addParam<Names>("moose_parameter_types", Names(), "What each of moose_parameters is, as moose_input_types");
  params.addParam<Names>("law_outputs", Names(), "Outputs of the law whose property has another name than the output");
  params.addParam<Names>("moose_outputs", Names(), "Name of the property for each of law_outputs");
  params.addParam<Names>("law_derivatives", Names(), "Derivatives that become properties, as 'output input output input'");
  params.addParam<Names>("moose_derivatives", Names(), "Name of the property for each pair of law_derivatives");
  params.addParam<Names>("initialize_outputs", Names(), "Outputs with an old value that do not start from the law's own");
  params.addParam<std::vector<Real>>("initialize_output_values",
                                     std::vector<Real>(),
                                     "Initial values of initialize_outputs, all components of one after the other "
                                     "(symmetric tensors as Mandel components)");
  return params;
}

std::shared_ptr<matlaw::Model>
MatlawMapping::law(const InputParameters & parameters)
{
  static std::mutex lock;
  static std::map<std::string, std::weak_ptr<matlaw::Model>> laws;

  matlaw::host::LawOptions options;
  options.runtime = std::string(parameters.get<MooseEnum>("runtime"));
  options.backend = std::string(parameters.get<MooseEnum>("backend"));
  options.device = parameters.get<std::string>("device");
  options.threads = parameters.get<unsigned int>("law_threads");
  options.extensions = parameters.get<Names>("extensions");
  for (auto * text : {&options.runtime, &options.backend})
    std::transform(text->begin(), text->end(), text->begin(), [](unsigned char c) { return std::tolower(c); });

  const std::string path = parameters.get<FileName>("input"), name = parameters.get<std::string>("model");
  std::string key = path + '\n' + name + '\n' + options.runtime + '\n' + options.backend + '\n' + options.device + '\n' +
                    std::to_string(options.threads);
  for (const auto & extension : options.extensions)
    key += '\n' + extension;
  // A law whose parameters MOOSE sets serves one block alone.
  if (!parameters.get<Names>("law_parameters").empty())
    key += '\n' + parameters.get<std::string>("owner");

  const std::lock_guard<std::mutex> guard(lock);
  auto law = laws[key].lock();
  if (!law)
    laws[key] = law = matlaw::host::load_law(path, name, options);
  return law;
}

MatlawMapping::MatlawMapping(const InputParameters & parameters, const LawDescription & law)
{
  addProperties(parameters, law);
  addInputs(parameters, law);
  addOldValues(law);
  addParameters(parameters, law);
  addDerivatives(parameters, law);
}

void
MatlawMapping::add(MatlawColumn column, const LawVariable & variable)
{
  column.name = variable.name;
  column.type = mooseType(variable);
  column.size = variable.size();
  column.offset = _row_size;
  if (column.source != MatlawSource::MATERIAL && column.size != 1)
    throw std::invalid_argument("'" + variable.name + "' of the law is of type " + variable.type + " with " +
                                std::to_string(column.size) + " components, '" + column.moose +
                                "' gives one number: only a material property has more");
  _row_size += column.size;
  _columns.push_back(column);
}

void
MatlawMapping::addInputs(const InputParameters & parameters, const LawDescription & law)
{
  const auto & names = parameters.get<Names>("law_inputs");
  const auto & moose = parameters.get<Names>("moose_inputs");
  const auto & types = parameters.get<Names>("moose_input_types");
  sameLength(parameters, "law_inputs", "moose_inputs");
  sameLength(parameters, "law_inputs", "moose_input_types");
  for (std::size_t i = 0; i < names.size(); ++i)
  {
    const auto * variable = law.input(names[i]);
    if (!variable)
      wrong("law_inputs: the law has no input '" + names[i] + "'", law);
    if (law.is_old(names[i]))
      wrong("law_inputs: '" + names[i] + "' is the old value of '" + law.state_of(names[i])->current +
                "', which MOOSE keeps by itself",
            law);
    MatlawColumn column;
    column.source = matlawSource(types[i]);
    column.moose = moose[i];
    add(column, *variable);
  }
  for (const auto & variable : law.inputs)
    if (!law.is_old(variable.name) && std::find(names.begin(), names.end(), variable.name) == names.end())
      wrong("nothing gives the input '" + variable.name + "' its values; add it to law_inputs and what it is in MOOSE to "
            "moose_inputs",
            law);
}

void
MatlawMapping::addOldValues(const LawDescription & law)
{
  for (const auto & state : law.states)
  {
    MatlawColumn column;
    if (state.is_state)
    {
      const auto property = std::find_if(_properties.begin(), _properties.end(), [&](const auto & p)
                                         { return p.output == state.current; });
      column.moose = property->property;
    }
    else
    {
      const auto current = std::find_if(_columns.begin(), _columns.end(), [&](const auto & c)
                                        { return c.name == state.current && c.role == MatlawColumn::Role::INPUT; });
      if (current == _columns.end())
        wrong("the old value '" + state.old + "' belongs to '" + state.current + "', which is itself an old value: MOOSE "
              "keeps one old value of an input",
              law);
      column.source = current->source;
      column.moose = current->moose;
    }
    column.role = MatlawColumn::Role::OLD;
    column.old = true;
    add(column, *law.input(state.old));
  }
}

void
MatlawMapping::addParameters(const InputParameters & parameters, const LawDescription & law)
{
  const auto & names = parameters.get<Names>("law_parameters");
  const auto & moose = parameters.get<Names>("moose_parameters");
  const auto & types = parameters.get<Names>("moose_parameter_types");
  sameLength(parameters, "law_parameters", "moose_parameters");
  sameLength(parameters, "law_parameters", "moose_parameter_types");
  for (std::size_t i = 0; i < names.size(); ++i)
  {
    const auto * parameter = law.parameter(names[i]);
    if (!parameter)
      wrong("law_parameters: the law has no parameter '" + names[i] +
                "' that can be set; a compiled law has those of matlaw-compile -p",
            law);
    MatlawColumn column;
    column.role = MatlawColumn::Role::PARAMETER;
    column.source = matlawSource(types[i]);
    column.moose = moose[i];
    add(column, *parameter);
  }
}

void
MatlawMapping::addProperties(const InputParameters & parameters, const LawDescription & law)
{
  const auto & renamed = parameters.get<Names>("law_outputs");
  const auto & names = parameters.get<Names>("moose_outputs");
  sameLength(parameters, "law_outputs", "moose_outputs");
  const auto & initialized = parameters.get<Names>("initialize_outputs");
  const auto & values = parameters.get<std::vector<Real>>("initialize_output_values");
  for (const auto * list : {&renamed, &initialized})
    for (const auto & name : *list)
      if (!law.output(name))
        wrong("the law has no output '" + name + "'", law);

  std::map<std::string, std::vector<double>> given;
  std::size_t used = 0;
  for (const auto & name : initialized)
  {
    const std::size_t size = law.output(name)->size();
    if (used + size > values.size())
      throw std::invalid_argument("initialize_output_values has too few numbers: '" + name + "' takes " +
                                  std::to_string(size));
    given[name].assign(values.begin() + used, values.begin() + used + size);
    used += size;
  }
  if (used != values.size())
    throw std::invalid_argument("initialize_output_values has " + std::to_string(values.size()) +
                                " numbers, initialize_outputs take " + std::to_string(used));

  for (const auto & variable : law.outputs)
  {
    MatlawProperty property;
    property.output = property.property = variable.name;
    const auto at = std::find(renamed.begin(), renamed.end(), variable.name);
    if (at != renamed.end())
      property.property = names[at - renamed.begin()];
    property.type = mooseType(variable);
    property.size = variable.size();
    for (const auto & state : law.states)
      if (state.is_state && state.current == variable.name)
      {
        property.stateful = true;
        property.initial = state.initial;
      }
    if (given.count(variable.name))
    {
      if (!property.stateful)
        wrong("initialize_outputs: the law has no old value of '" + variable.name + "'", law);
      property.initial = given[variable.name];
    }
    _properties.push_back(property);
  }
}

void
MatlawMapping::addDerivatives(const InputParameters & parameters, const LawDescription & law)
{
  const auto & pairs = parameters.get<Names>("law_derivatives");
  const auto & names = parameters.get<Names>("moose_derivatives");
  if (pairs.size() != 2 * names.size())
    throw std::invalid_argument("law_derivatives has " + std::to_string(pairs.size()) + " entries, and moose_derivatives " +
                                std::to_string(names.size()) + ": an output and an input for each property");
  for (std::size_t i = 0; i < names.size(); ++i)
  {
    const auto &output = pairs[2 * i], &input = pairs[2 * i + 1];
    if (!law.has_derivative(output, input))
      wrong("the law was compiled without the derivative of '" + output + "' by '" + input +
                "'; compile it with: matlaw-compile ... -d " + output + ":" + input,
            law);
    MatlawDerivative derivative;
    derivative.output = output;
    derivative.input = input;
    derivative.property = names[i];
    const auto &out = *law.output(output), &in = *law.input(input);
    derivative.rows = out.size();
    derivative.columns = in.size();
    derivative.output_type = mooseType(out);
    derivative.input_type = mooseType(in);
    _derivatives.push_back(derivative);
  }
}
