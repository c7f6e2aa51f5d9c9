#include "MatlawAction.h"

#include <algorithm>
#include <set>

#include "ActionWarehouse.h"
#include "FEProblem.h"
#include "Factory.h"
#include "MooseObjectAction.h"

#include "matlaw/errors.h"

namespace
{
#if __has_include("ComputeLagrangianStressPK1.h") && __has_include("ComputeLagrangianObjectiveStress.h")
constexpr bool has_lagrangian_kernels = true;
#else
constexpr bool has_lagrangian_kernels = false;
#endif
}

registerMooseAction("MatlawApp", MatlawAction, "add_user_object");
registerMooseAction("MatlawApp", MatlawAction, "add_material");

InputParameters
MatlawAction::validParams()
{
  InputParameters params = Action::validParams();
  params += MatlawMapping::lawParams();
  params += MatlawMapping::mappingParams();
  params.addClassDescription("Laws of matlaw for blocks of the mesh.");
  params.addParam<std::vector<SubdomainName>>("block", std::vector<SubdomainName>(), "Blocks that the law is for; all without it");
  params.addParam<std::string>("base_name", "Prefix of the properties of mechanics, as of the strain calculator");
  params.addParam<std::string>(
      "strain", "", "Input of the law that is the strain or the deformation gradient; found where only one fits");
  params.addParam<std::string>("stress", "", "Output of the law that is the stress; found where only one fits");
  MooseEnum measure("CAUCHY PK1 PK2");
  params.addParam<MooseEnum>("stress_measure",
                             measure,
                             "Which stress a law of the deformation gradient gives: without it PK1 for one with nine "
                             "components, else PK2");
  MooseEnum formulation("AUTO STANDARD LAGRANGIAN LAGRANGIAN_OBJECTIVE NONE", "AUTO");
  params.addParam<MooseEnum>("formulation",
                             formulation,
                             "Which kernels take the stress: STANDARD for StressDivergenceTensors, LAGRANGIAN for the "
                             "Lagrangian kernels, LAGRANGIAN_OBJECTIVE for these with large kinematics and a law of the "
                             "strain, NONE for a law whose outputs are properties and nothing else. AUTO: as the "
                             "kernels of the input are");
  params.addParam<bool>("rotate_state",
                        "Turn old tensors by the rotation increment of the strain calculator. Without it: when there is a "
                        "finite strain calculator and the law takes the strain");
  return params;
}

MatlawAction::MatlawAction(const InputParameters & parameters)
  : Action(parameters), _base_name(isParamValid("base_name") ? getParam<std::string>("base_name") + "_" : "")
{
}

void
MatlawAction::wrong(const std::string & what) const
{
  mooseError("[Matlaw/", name(), "]: ", what);
}

void
MatlawAction::act()
{
  if (_current_task == "add_user_object")
  {
    resolve();
    addBatch();
  }
  else if (_current_task == "add_material")
  {
    addLawMaterial();
    if (_mechanics != Mechanics::NONE)
      addStressMaterial();
  }
}

void
MatlawAction::resolve()
{
  InputParameters params = parameters();
  params.set<std::string>("owner") = name();
  try
  {
    _law = matlaw::host::describe(*MatlawMapping::law(params));
  }
  catch (const matlaw::Exception & error)
  {
    wrong(std::string("the law cannot be loaded: ") + error.what());
  }
  findFormulation();
  findMechanics();
  // A law of the strain with large kinematics is integrated objectively.
  if (_mechanics == Mechanics::STRAIN && _formulation == "LAGRANGIAN" && _large_kinematics)
    _formulation = "LAGRANGIAN_OBJECTIVE";
  findInputs();
  findOutputs();
  findParameters();
}

void
MatlawAction::findMechanics()
{
  const auto given_strain = getParam<std::string>("strain"), given_stress = getParam<std::string>("stress");
  // Without a stress that the law could give there is no mechanics.
  const auto has = [&](const std::vector<matlaw::host::LawVariable> & variables, const std::string & type, bool old)
  {
    return std::any_of(variables.begin(), variables.end(), [&](const auto & v)
                       { return v.type == type && v.sub_batch_shape.empty() && (old || !_law.is_old(v.name)); });
  };
  if (_formulation == "NONE" || !(has(_law.outputs, "SR2", true) || has(_law.outputs, "R2", true)) ||
      !(has(_law.inputs, "SR2", false) || has(_law.inputs, "R2", false)))
    return;

  const auto * given = _law.input(given_strain);
  if (given ? given->type == "R2" : given_strain.empty() && !has(_law.inputs, "SR2", false))
    findGradient(given_strain, given_stress);
  else
    try
    {
      _mechanics = Mechanics::STRAIN;
      _strain = _law.strain(given_strain);
      _stress = _law.stress(given_stress);
    }
    catch (const matlaw::Exception & error)
    {
      wrong(error.what());
    }
  if (!_law.has_derivative(_stress, _strain))
    wrong("the law was compiled without the derivative " + _stress + ":" + _strain +
          " that the global Newton needs; compile it with: matlaw-compile ... -d " + _stress + ":" + _strain + "; " +
          _law.text());
  if (_mechanics == Mechanics::STRAIN && _formulation == "STANDARD")
    if (isParamValid("rotate_state") ? getParam<bool>("rotate_state") : finiteStrain())
      _rotation = property("rotation_increment");
}

void
MatlawAction::findGradient(const std::string & strain, const std::string & stress)
{
  _mechanics = Mechanics::DEFORMATION_GRADIENT;
  Names gradients, stresses;
  for (const auto & variable : _law.inputs)
    if (variable.type == "R2" && !_law.is_old(variable.name) && (strain.empty() || variable.name == strain))
      gradients.push_back(variable.name);
  for (const auto & variable : _law.outputs)
    if ((variable.type == "R2" || variable.type == "SR2") && (stress.empty() || variable.name == stress) &&
        gradients.size() == 1 && (!stress.empty() || _law.has_derivative(variable.name, gradients.front())))
      stresses.push_back(variable.name);
  if (gradients.size() != 1)
    wrong("cannot tell which input of the law is the deformation gradient: name it with strain = ...; " + _law.text());
  if (stresses.size() != 1)
    wrong("cannot tell which output of the law is the stress: name it with stress = ...; " + _law.text());
  _strain = gradients.front();
  _stress = stresses.front();
  const bool full = _law.output(_stress)->type == "R2";
  _measure = isParamValid("stress_measure") ? std::string(getParam<MooseEnum>("stress_measure")) : full ? "PK1" : "PK2";
  if (full != (_measure == "PK1"))
    wrong("the stress '" + _stress + "' is of type " + _law.output(_stress)->type + ": PK1 is an R2, PK2 and CAUCHY are SR2");
}

void
MatlawAction::findFormulation()
{
  _formulation = std::string(getParam<MooseEnum>("formulation"));
  bool lagrangian = false;
  for (const auto & action : _awh.allActionBlocks())
  {
    const auto on = [](const InputParameters & params, const std::string & flag)
    { return params.have_parameter<bool>(flag) && params.isParamValid(flag) && params.get<bool>(flag); };
    const auto object = std::dynamic_pointer_cast<MooseObjectAction>(action);
    if (object)
    {
      lagrangian = lagrangian || object->getMooseObjectType().find("LagrangianStressDivergence") != std::string::npos;
      _large_kinematics = _large_kinematics || on(object->getObjectParams(), "large_kinematics");
    }
    else if (on(action->parameters(), "new_system"))
    {
      lagrangian = true;
      _large_kinematics = _large_kinematics || isFinite(action->parameters());
    }
  }
  if (_formulation == "AUTO")
    _formulation = lagrangian ? "LAGRANGIAN" : "STANDARD";
}

bool
MatlawAction::isFinite(const InputParameters & params)
{
  return params.have_parameter<MooseEnum>("strain") && params.isParamValid("strain") &&
         params.get<MooseEnum>("strain") == "FINITE";
}

bool
MatlawAction::finiteStrain() const
{
  for (const auto & action : _awh.allActionBlocks())
  {
    const auto object = std::dynamic_pointer_cast<MooseObjectAction>(action);
    if (object && object->getMooseObjectType().compare(0, 7, "Compute") == 0 &&
        object->getMooseObjectType().find("FiniteStrain") != std::string::npos)
      return true;
    if (!object && isFinite(action->parameters()))
      return true;
  }
  return false;
}

std::string
MatlawAction::inferredSource(const std::string & name) const
{
  return _problem->hasVariable(name) ? "VARIABLE" : _problem->hasFunction(name) ? "FUNCTION" : "MATERIAL";
}

void
MatlawAction::findInputs()
{
  _law_inputs = getParam<Names>("law_inputs");
  _moose_inputs = getParam<Names>("moose_inputs");
  _moose_input_types = getParam<Names>("moose_input_types");
  if (_moose_input_types.empty())
    for (const auto & input : _moose_inputs)
      _moose_input_types.push_back(inferredSource(input));

  const auto add = [&](const std::string & input, const std::string & moose, const std::string & type)
  {
    if (std::find(_law_inputs.begin(), _law_inputs.end(), input) != _law_inputs.end())
      return;
    _law_inputs.push_back(input);
    _moose_inputs.push_back(moose);
    _moose_input_types.push_back(type);
  };
  if (_mechanics != Mechanics::NONE)
    add(_strain,
        property(_mechanics == Mechanics::STRAIN ? "mechanical_strain" : "deformation_gradient"),
        "MATERIAL");
  for (const auto & variable : _law.inputs)
  {
    const auto & input = variable.name;
    if (_law.is_old(input))
      continue;
    const bool time = std::any_of(_law.times.begin(), _law.times.end(), [&](const auto & t) { return t.first == input; });
    if (time || input == "t")
      add(input, "t", "TIME");
    else if (inferredSource(input) != "MATERIAL")
      add(input, input, inferredSource(input));
  }
}

void
MatlawAction::findOutputs()
{
  _law_outputs = getParam<Names>("law_outputs");
  _moose_outputs = getParam<Names>("moose_outputs");
  _law_derivatives = getParam<Names>("law_derivatives");
  _moose_derivatives = getParam<Names>("moose_derivatives");
  const auto name = [&](const std::string & output, const std::string & moose)
  {
    const auto at = std::find(_law_outputs.begin(), _law_outputs.end(), output);
    if (at != _law_outputs.end())
      return _moose_outputs.at(at - _law_outputs.begin());
    _law_outputs.push_back(output);
    _moose_outputs.push_back(moose);
    return moose;
  };
  if (_law_outputs.size() != _moose_outputs.size())
    wrong("'law_outputs' has " + std::to_string(_law_outputs.size()) + " entries and 'moose_outputs' has " +
          std::to_string(_moose_outputs.size()) + ": they go in pairs");

  if (_mechanics != Mechanics::NONE)
  {
    _stress_property = name(_stress, property("matlaw_" + _stress));
    _derivative_property = _stress_property + "_derivative";
    _law_derivatives.push_back(_stress);
    _law_derivatives.push_back(_strain);
    _moose_derivatives.push_back(_derivative_property);
  }
  // Names that MOOSE's own strain and stress objects declare.
  static const std::set<std::string> taken = {"stress",           "elastic_strain", "mechanical_strain",
                                              "total_strain",     "strain_rate",    "strain_increment",
                                              "rotation_increment", "deformation_gradient", "Jacobian_mult"};
  for (const auto & variable : _law.outputs)
  {
    const auto given = name(variable.name,
                            property((_mechanics != Mechanics::NONE && taken.count(variable.name) ? "matlaw_" : "") +
                                     variable.name));
    if (variable.name == "elastic_strain" && variable.type == "SR2" && variable.sub_batch_shape.empty())
      _elastic_strain_property = given;
  }
}

void
MatlawAction::findParameters()
{
  _law_parameters = getParam<Names>("law_parameters");
  _moose_parameters = getParam<Names>("moose_parameters");
  _moose_parameter_types = getParam<Names>("moose_parameter_types");
  if (_moose_parameter_types.empty())
    for (const auto & parameter : _moose_parameters)
      _moose_parameter_types.push_back(inferredSource(parameter));

  std::set<std::string> variables;
  const auto collect = [&](const Names & names, const Names & types)
  {
    for (std::size_t i = 0; i < std::min(names.size(), types.size()); ++i)
      if (types[i] == "VARIABLE" && variables.insert(names[i]).second)
        _variables.push_back(names[i]);
  };
  collect(_moose_inputs, _moose_input_types);
  collect(_moose_parameters, _moose_parameter_types);
}

void
MatlawAction::setBlock(InputParameters & params) const
{
  const auto & blocks = getParam<std::vector<SubdomainName>>("block");
  if (!blocks.empty())
    params.set<std::vector<SubdomainName>>("block") = blocks;
}

void
MatlawAction::setVariables(InputParameters & params) const
{
  if (!_variables.empty())
    params.set<std::vector<VariableName>>("variables") = _variables;
}

void
MatlawAction::addBatch()
{
  InputParameters params = _factory.getValidParams("MatlawBatch");
  params.applySpecificParameters(parameters(),
                                 {"input",
                                  "model",
                                  "runtime",
                                  "backend",
                                  "device",
                                  "law_threads",
                                  "extensions",
                                  "initialize_outputs",
                                  "initialize_output_values"});
  setBlock(params);
  setVariables(params);
  params.set<Names>("law_inputs") = _law_inputs;
  params.set<Names>("moose_inputs") = _moose_inputs;
  params.set<Names>("moose_input_types") = _moose_input_types;
  params.set<Names>("law_outputs") = _law_outputs;
  params.set<Names>("moose_outputs") = _moose_outputs;
  params.set<Names>("law_parameters") = _law_parameters;
  params.set<Names>("moose_parameters") = _moose_parameters;
  params.set<Names>("moose_parameter_types") = _moose_parameter_types;
  params.set<Names>("law_derivatives") = _law_derivatives;
  params.set<Names>("moose_derivatives") = _moose_derivatives;
  params.set<std::string>("owner") = name();
  params.set<std::string>("rotation") = _rotation;
  params.set<bool>("always_tangent") = !getParam<Names>("moose_derivatives").empty();
  _problem->addUserObject("MatlawBatch", name(), params);
}

void
MatlawAction::addLawMaterial()
{
  InputParameters params = _factory.getValidParams("MatlawMaterial");
  setBlock(params);
  setVariables(params);
  params.set<UserObjectName>("batch") = name();
  params.set<bool>("always_tangent") = !getParam<Names>("moose_derivatives").empty();
  _problem->addMaterial("MatlawMaterial", name() + "_law", params);
}

void
MatlawAction::addStressMaterial()
{
  const std::string type = _formulation == "STANDARD"     ? "ComputeMatlawStress"
                           : _formulation == "LAGRANGIAN" ? "ComputeMatlawLagrangianStress"
                                                          : "ComputeMatlawLagrangianObjectiveStress";
  if (_formulation != "STANDARD" && !has_lagrangian_kernels)
    wrong("this MOOSE has no Lagrangian kernels, which formulation = " + _formulation + " is for");
  if (_formulation == "LAGRANGIAN_OBJECTIVE" && _mechanics != Mechanics::STRAIN)
    wrong("LAGRANGIAN_OBJECTIVE is for a law of the strain; a law of the deformation gradient takes LAGRANGIAN");

  InputParameters params = _factory.getValidParams(type);
  setBlock(params);
  if (!_base_name.empty())
    params.set<std::string>("base_name") = getParam<std::string>("base_name");
  params.set<MaterialPropertyName>("law_stress") = _stress_property;
  params.set<MaterialPropertyName>("law_derivative") = _derivative_property;
  if (_formulation != "LAGRANGIAN_OBJECTIVE")
    params.set<MooseEnum>("stress_measure") = _mechanics == Mechanics::STRAIN ? "SMALL" : _measure;
  if (_formulation != "STANDARD")
    params.set<bool>("large_kinematics") = _large_kinematics;
  else if (!_elastic_strain_property.empty())
    params.set<MaterialPropertyName>("law_elastic_strain") = _elastic_strain_property;
  _problem->addMaterial(type, name() + "_stress", params);
}
