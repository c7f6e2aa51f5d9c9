#include <algorithm>
#include <map>
#include <set>

#include "artifact/Metadata.h"
#include "artifact/metadata_file.h"

namespace matlaw::artifact
{
namespace
{
/// Blocks are square, lie inside the matrix of size `n` and share nothing.
void check_structure(const solve::LinearStructure & structure, std::int64_t n, const auto & refuse)
{
  const auto need = [&](bool holds)
  {
    if (!holds)
      refuse("has a linear solver whose blocks overlap or do not fit its matrix");
  };
  std::set<std::int64_t> rows, columns, diagonal;
  for (const auto & block : structure.elimination)
  {
    need(block.rows.size() == block.columns.size() && !block.rows.empty());
    for (const auto k : block.rows)
      need(k < n && rows.insert(k).second);
    for (const auto k : block.columns)
      need(k < n && columns.insert(k).second);
  }
  for (const auto & block : structure.preconditioner)
  {
    need(block.offset <= n && block.size <= n - block.offset);
    for (std::int64_t k = 0; k < block.size; k++)
      need(diagonal.insert(block.offset + k).second);
  }
}

/// What the solvers of an implicit segment need is there.
void check_linear_solver(const Metadata & metadata, const Segment & segment, const auto & refuse)
{
  for (const auto * structure : {&segment.structure, &segment.input_sensitivity, &segment.param_sensitivity})
    check_structure(*structure, segment.size, refuse);
  if (segment.solver.krylov)
  {
    if (segment.matvec.empty())
      refuse("has a Krylov solver, but no graph 'matvec'");
    if (!segment.structure.preconditioner.empty() && segment.precond_setup.empty())
      refuse("has a preconditioner, but no graph 'precond_setup'");
  }
  else if (segment.jacobian.empty())
    refuse("has a direct solver, but no graph 'jacobian'");
  if ((segment.jacobian_given || segment.substep_jacobian_given) && segment.jacobian.empty())
    refuse("has derivatives by givens, but no graph 'jacobian'");
  if (!segment.newton_step.empty() && segment.jacobian.empty())
    refuse("has a graph 'newton_step', but no graph 'jacobian'");
  if (segment.sensitivity && !segment.jacobian_given)
    refuse("has a graph 'sensitivity', but no graph 'jacobian_given'");
}
}

void check_consistency(const Metadata & metadata, const std::string & folder)
{
  const auto path = metadata_path(folder);
  const auto refuse = [&](const std::string & why)
  { throw FatalError(path + " contradicts itself: " + why + ". Regenerate the artifact with matlaw-compile."); };

  std::map<std::string, const Variable *> known;
  for (const auto & [name, variable] : metadata.variables)
    known[name] = &variable;
  for (const auto & variable : metadata.outputs)
    known[variable.name] = &variable;
  std::set<std::string> given;
  for (const auto & variable : metadata.inputs)
  {
    known[variable.name] = &variable;
    given.insert(variable.name);
  }
  std::map<std::string, const Variable *> parameters;
  for (const auto & parameter : metadata.parameters)
    parameters[parameter.name] = &parameter;

  const auto size_of = [&](const std::string & name) -> std::int64_t
  {
    const auto found = known.find(name);
    if (found == known.end())
      refuse("variable '" + name + "' is used but not described");
    return found->second->size;
  };
  const auto size_of_parameter = [&](const std::string & name) -> std::int64_t
  {
    const auto found = parameters.find(name);
    if (found == parameters.end())
      refuse("parameter '" + name + "' is used but not described");
    return found->second->size;
  };
  const auto check_slices = [&](const std::vector<Slice> & slices, const std::string & what, const auto & size_of)
  {
    std::int64_t offset = 0;
    for (const auto & slice : slices)
    {
      if (slice.size != size_of(slice.name))
        refuse(what + " '" + slice.name + "' has size " + std::to_string(slice.size) + ", its variable " +
               std::to_string(size_of(slice.name)));
      if (slice.offset != offset)
        refuse(what + " '" + slice.name + "' is at offset " + std::to_string(slice.offset) + " instead of " +
               std::to_string(offset));
      offset += slice.size;
    }
    return offset;
  };

  for (std::size_t i = 0; i < metadata.segments.size(); i++)
  {
    const auto & segment = metadata.segments[i];
    const auto what = "segment " + std::to_string(i);
    for (const auto & name : segment.inputs)
    {
      size_of(name);
      if (!given.count(name))
        refuse(what + " reads '" + name + "', which nothing before it computes");
    }
    for (const auto & name : segment.parameters)
      if (!parameters.count(name))
        refuse(what + " reads the parameter '" + name + "', which is not described");
    for (const auto & name : segment.weights)
      if (std::none_of(metadata.weights.begin(), metadata.weights.end(),
                       [&](const auto & weight) { return weight.name == name; }))
        refuse(what + " reads the weight '" + name + "', which is not described");
    const std::set<std::string> own_inputs(segment.inputs.begin(), segment.inputs.end());
    const std::set<std::string> own_outputs(segment.outputs.begin(), segment.outputs.end());
    for (const auto & jvp : {segment.jvp, segment.substep_jvp})
      for (const auto & pair : jvp ? jvp->pairs : std::vector<Pair>())
        if (!own_outputs.count(pair.output) || !own_inputs.count(pair.input))
          refuse(what + " has a derivative of '" + pair.output + "' by '" + pair.input + "', which are not its own");
    const std::set<std::string> own_parameters(segment.parameters.begin(), segment.parameters.end());
    for (const auto & jvp : {segment.param_jvp, segment.substep_param_jvp})
      for (const auto & pair : jvp ? jvp->pairs : std::vector<Pair>())
        if (!own_outputs.count(pair.output) || !own_parameters.count(pair.input))
          refuse(what + " has a derivative of '" + pair.output + "' by the parameter '" + pair.input +
                 "', which are not its own");
    if (segment.implicit)
    {
      if (check_slices(segment.unknowns, what + ": unknown", size_of) != segment.size)
        refuse(what + " has unknowns of other total size than " + std::to_string(segment.size));
      check_linear_solver(metadata, segment, [&](const std::string & why) { refuse(what + " " + why); });
      std::set<std::string> unknowns;
      for (const auto & slice : segment.unknowns)
        unknowns.insert(slice.name);
      for (const auto & name : segment.outputs)
        if (!unknowns.count(name))
          refuse(what + " has the output '" + name + "', which is not an unknown");
      for (const auto & name : segment.givens)
        if (!own_inputs.count(name))
          refuse(what + " has the given '" + name + "', which is not among its inputs");
      if (segment.predictor)
      {
        for (const auto & name : segment.predictor->inputs)
          if (!own_inputs.count(name))
            refuse(what + " has a predictor that reads '" + name + "', which is not among its inputs");
        for (const auto & name : segment.predictor->outputs)
          if (!unknowns.count(name))
            refuse(what + " has a predictor of '" + name + "', which is not an unknown");
      }
      for (const auto & graph : {segment.jacobian_given, segment.substep_jacobian_given, segment.sensitivity})
      {
        const auto givens = graph ? graph->givens : std::vector<Slice>();
        check_slices(givens, what + ": given", size_of);
        for (const auto & slice : givens)
          if (!own_inputs.count(slice.name))
            refuse(what + " has derivatives by '" + slice.name + "', which is not among its inputs");
      }
      for (const auto & graph : {segment.dr_dparam, segment.substep_dr_dparam})
      {
        const auto slices = graph ? graph->parameters : std::vector<Slice>();
        check_slices(slices, what + ": parameter", size_of_parameter);
        for (const auto & slice : slices)
          if (!own_parameters.count(slice.name))
            refuse(what + " has derivatives by '" + slice.name + "', which is not among its parameters");
      }
    }
    for (const auto & name : segment.outputs)
    {
      size_of(name);
      given.insert(name);
    }
  }
  for (const auto & output : metadata.outputs)
    if (!given.count(output.name))
      refuse("output '" + output.name + "' is not computed by any segment");
  const auto is_input = [&](const std::string & name)
  {
    for (const auto & variable : metadata.inputs)
      if (variable.name == name)
        return true;
    return false;
  };
  const auto is_output = [&](const std::string & name)
  {
    for (const auto & variable : metadata.outputs)
      if (variable.name == name)
        return true;
    return false;
  };
  for (const auto & pair : metadata.derivatives)
    if (!is_output(pair.output) || !is_input(pair.input))
      refuse("the derivative of '" + pair.output + "' by '" + pair.input + "' is not of an output by an input");
  for (const auto & pair : metadata.param_derivatives)
  {
    if (!is_output(pair.output) || !parameters.count(pair.input))
      refuse("the derivative of '" + pair.output + "' by '" + pair.input + "' is not of an output by a parameter");
  }
  for (const auto & pair : metadata.state_pairs)
  {
    if (!is_input(pair.old))
      refuse("the old state '" + pair.old + "' is not an input");
    if (!(pair.is_state ? is_output(pair.current) : is_input(pair.current)))
      refuse("the state '" + pair.current + "' is not an " + (pair.is_state ? "output" : "input"));
    if (std::int64_t(pair.initial.size()) != size_of(pair.old))
      refuse("the initial value of '" + pair.old + "' has " + std::to_string(pair.initial.size()) + " entries");
  }
  for (const auto & [current, old] : metadata.times)
    if (!is_input(current) || !is_input(old) || size_of(current) != size_of(old))
      refuse("the times '" + current + "' and '" + old + "' are not two inputs of one shape");
}
}
