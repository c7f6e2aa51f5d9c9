#include <algorithm>
#include <cmath>
#include <set>

#include <nlohmann/json.hpp>

#include "artifact/Metadata.h"
#include "artifact/file_bytes.h"
#include "artifact/metadata_file.h"
#include "support/text.h"

namespace matlaw::artifact
{
namespace
{
using nlohmann::json;
using Node = MetadataNode;

std::int64_t extent(const std::vector<std::int64_t> & shape)
{
  std::int64_t size = 1;
  for (const auto n : shape)
    size *= n;
  return size;
}

void read_variable(const Node & node, Variable & variable, const char * base_shape = "base_shape")
{
  variable.type = node.at("type").text();
  variable.base_shape = node.at(base_shape).counts();
  variable.sub_batch_shape = node.at("sub_batch_shape").counts();
  variable.size = node.at("size").count();
  if (variable.size != extent(variable.base_shape) * extent(variable.sub_batch_shape))
    node.fail("has size " + std::to_string(variable.size) + ", but base shape " +
              support::shape_text(variable.base_shape) + " and sub-batch shape " +
              support::shape_text(variable.sub_batch_shape));
}

std::vector<Variable> read_variables(const Node & list)
{
  std::vector<Variable> variables;
  for (const auto & node : list.items())
  {
    auto & variable = variables.emplace_back();
    variable.name = node.at("name").text();
    read_variable(node, variable);
  }
  return variables;
}

std::vector<Slice> read_slices(const Node & list)
{
  std::vector<Slice> slices;
  for (const auto & node : list.items())
    slices.push_back({node.at("name").text(), node.at("size").count(), node.at("offset").count()});
  return slices;
}

/// `by` is the key of what the derivatives are by: "input" or "parameter".
std::vector<Pair> read_pairs(const Node & list, const char * by)
{
  std::vector<Pair> pairs;
  for (const auto & node : list.items())
  {
    const auto constant = node.find("batch_independent");
    pairs.push_back({node.at("output").text(), node.at(by).text(), constant && constant->truth()});
  }
  return pairs;
}

solve::LinearStructure read_structure(const Node & node)
{
  solve::LinearStructure structure;
  if (const auto list = node.find("elimination"))
    for (const auto & block : list->items())
      structure.elimination.push_back({block.at("rows").counts(), block.at("columns").counts()});
  if (const auto list = node.find("preconditioner"))
    for (const auto & block : list->items())
      structure.preconditioner.push_back({block.at("offset").count(), block.at("size").count()});
  return structure;
}

solve::KrylovConfig read_krylov(const Node & node)
{
  solve::KrylovConfig config;
  config.restart = node.at("restart").count();
  config.max_its = node.at("max_its").count();
  config.abs_tol = node.at("abs_tol").number();
  config.rel_tol = node.at("rel_tol").number();
  config.cache_max_its = node.at("cache_max_its").count();
  try
  {
    config.method = solve::krylov_method_from_text(node.at("method").text());
    config.cache_strategy = solve::preconditioner_cache_from_text(node.at("cache_strategy").text());
    solve::check(config);
  }
  catch (const FatalError & error)
  {
    node.fail(std::string("is out of range: ") + error.what());
  }
  return config;
}

/// True for an iterative solver; `node` has the kind of a linear solver at `key`, "direct" where it has none.
bool is_krylov(const Node & node, const char * key)
{
  const auto kind = node.find(key);
  if (kind && kind->text() != "direct" && kind->text() != "krylov")
    kind->fail("is '" + kind->text() + "'; this runtime knows 'direct' and 'krylov'");
  return kind && kind->text() == "krylov";
}

/// What `node`, where it is there, says of the solver for derivatives.
void read_sensitivity(const std::optional<Node> & node, solve::LinearStructure & structure,
                      std::optional<solve::KrylovConfig> & krylov)
{
  if (!node)
    return;
  structure = read_structure(*node);
  if (is_krylov(*node, "kind"))
    krylov = read_krylov(node->at("krylov"));
}

solve::NewtonConfig read_solver(const Node & node)
{
  solve::NewtonConfig config;
  if (is_krylov(node, "solver_kind"))
    config.krylov = read_krylov(node.at("krylov"));
  config.atol = node.at("atol").number();
  config.rtol = node.at("rtol").number();
  config.miters = node.at("miters").count();
  if (const auto given = node.find("ls_max_iters"))
    config.ls_max_iters = given->count();
  if (const auto given = node.find("ls_cutback"))
    config.ls_cutback = given->number();
  if (const auto given = node.find("ls_c"))
    config.ls_c = given->number();
  if (const auto given = node.find("max_substepping_level"))
    config.max_substepping_level = given->count();
  if (const auto given = node.find("substep_del_tol"))
    config.substep_del_tol = given->number();
  try
  {
    if (const auto given = node.find("ls_type"))
      config.ls_type = solve::line_search_from_text(given->text());
    solve::check(config);
  }
  catch (const FatalError & error)
  {
    node.fail(std::string("is out of range: ") + error.what());
  }
  return config;
}

/// `root` has the settings of all solves that the segment has none of its own for.
Segment read_segment(const Node & node, const Node & root)
{
  Segment segment;
  const auto kind = node.at("kind").text();
  if (kind != "forward" && kind != "implicit")
    node.at("kind").fail("is '" + kind + "'; this runtime knows 'forward' and 'implicit'");
  segment.implicit = kind == "implicit";
  segment.inputs = node.at("inputs").texts();
  segment.outputs = node.at("outputs").texts();
  segment.parameters = node.at("parameters").texts();
  if (const auto weights = node.find("weights"))
    segment.weights = weights->texts();
  const auto graphs = node.at("graphs");
  if (!segment.implicit)
  {
    segment.value = graphs.at("value").at("stem").text();
    const auto read = [&](std::optional<JvpGraph> & to, const char * kind, const char * by)
    {
      if (const auto jvp = graphs.find(kind))
        to = JvpGraph{jvp->at("stem").text(), read_pairs(jvp->at("pairs"), by)};
    };
    read(segment.jvp, "jvp", "input");
    read(segment.param_jvp, "param_jvp", "parameter");
    read(segment.substep_jvp, "substep_jvp", "input");
    read(segment.substep_param_jvp, "substep_param_jvp", "parameter");
    return segment;
  }
  segment.size = node.at("size").count();
  segment.unknowns = read_slices(node.at("unknowns"));
  segment.givens = node.at("givens").texts();
  segment.residual = graphs.at("residual").at("stem").text();
  const auto stem = [&](const char * graph)
  {
    const auto found = graphs.find(graph);
    return found ? found->at("stem").text() : std::string();
  };
  segment.jacobian = stem("jacobian");
  segment.matvec = stem("matvec");
  segment.precond_setup = stem("precond_setup");
  segment.newton_step = stem("newton_step");
  if (const auto solver = node.find("linear_solver"))
    segment.structure = read_structure(*solver);
  segment.solver = read_solver(node.find("solver_config").value_or(root.at("solver_config")));
  read_sensitivity(node.find("input_sensitivity"), segment.input_sensitivity, segment.solver.input_sensitivity);
  read_sensitivity(node.find("param_sensitivity"), segment.param_sensitivity, segment.solver.param_sensitivity);
  const auto update = node.find("update");
  segment.update = update ? update->text() : segment.unknowns.empty() ? "" : segment.unknowns.front().name;
  if (const auto predictor = graphs.find("predictor"))
    segment.predictor =
        PredictorGraph{predictor->at("stem").text(), predictor->at("inputs").texts(), predictor->at("outputs").texts()};
  const auto read_given = [&](const char * kind) -> std::optional<GivenGraph>
  {
    if (const auto given = graphs.find(kind))
      return GivenGraph{given->at("stem").text(), read_slices(given->at("givens"))};
    return std::nullopt;
  };
  const auto read_parameters = [&](const char * kind) -> std::optional<ParameterGraph>
  {
    if (const auto given = graphs.find(kind))
      return ParameterGraph{given->at("stem").text(), read_slices(given->at("parameters"))};
    return std::nullopt;
  };
  segment.jacobian_given = read_given("jacobian_given");
  segment.substep_jacobian_given = read_given("substep_jacobian_given");
  segment.sensitivity = read_given("sensitivity");
  segment.dr_dparam = read_parameters("dr_dparam");
  segment.substep_dr_dparam = read_parameters("substep_dr_dparam");
  return segment;
}

/// Sets what callers call the variables; `renamed` is one map of `boundary_aliases`, or absent.
template <typename List>
void report_names(List & variables, const std::optional<Node> & renamed)
{
  for (auto & variable : variables)
    variable.reported = variable.name;
  if (!renamed)
    return;
  for (const auto & [original, alias] : renamed->entries())
  {
    bool found = false;
    for (auto & variable : variables)
      if (variable.name == original)
      {
        variable.reported = alias.text();
        found = true;
      }
    if (!found)
      alias.fail("renames '" + original + "', which is not there");
  }
  std::set<std::string> distinct;
  for (const auto & variable : variables)
    if (!distinct.insert(variable.reported).second)
      renamed->fail("gives the name '" + variable.reported + "' twice");
}

json parse(const std::string & path)
{
  try
  {
    return json::parse(read_bytes(path));
  }
  catch (const json::exception & error)
  {
    throw FatalError(path + " is not valid JSON (" + error.what() +
                     "). The artifact is damaged or was edited: regenerate it with matlaw-compile.");
  }
}
}

Source read_source(const std::string & folder)
{
  const auto path = metadata_path(folder);
  const auto document = parse(path);
  const Node root(document, "", path);
  const auto source = root.at("source");
  return {source.at("file").text(), source.at("text").text()};
}

Metadata read_metadata(const std::string & folder)
{
  const auto path = metadata_path(folder);
  const auto document = parse(path);
  const Node root(document, "", path);
  // First of all: every other key may mean something else in another version.
  const auto version = root.at("schema_version").integer();
  if (version != schema_version)
    throw FatalError(path + " has schema_version " + std::to_string(version) + ", this runtime reads schema_version " +
                     std::to_string(schema_version) + ". Regenerate the artifact via matlaw-compile.");

  Metadata metadata;
  metadata.name = root.at("name").text();
  metadata.torch_version = root.at("torch_version").text();
  metadata.matlaw_version = root.at("matlaw_version").text();
  metadata.inputs = read_variables(root.at("inputs"));
  metadata.outputs = read_variables(root.at("outputs"));
  for (const auto & node : root.at("parameters").items())
  {
    auto & parameter = metadata.parameters.emplace_back();
    parameter.name = node.at("name").text();
    read_variable(node, parameter, "param_base_shape");
    parameter.value = node.at("value").numbers();
    if (std::int64_t(parameter.value.size()) != parameter.size)
      node.at("value").fail("must have " + std::to_string(parameter.size) + " entries");
    if (const auto dtype = node.find("dtype"))
    {
      if (dtype->text() != "int64")
        dtype->fail("is '" + dtype->text() + "'; this runtime knows 'int64', and parameters without one are floating");
      parameter.integers = true;
      if (std::any_of(parameter.value.begin(), parameter.value.end(), [](double x) { return x != std::trunc(x); }))
        node.at("value").fail("must have integers, as its dtype is int64");
    }
  }
  const auto aliases = root.find("boundary_aliases");
  report_names(metadata.inputs, aliases ? aliases->find("inputs") : std::nullopt);
  report_names(metadata.outputs, aliases ? aliases->find("outputs") : std::nullopt);
  report_names(metadata.parameters, aliases ? aliases->find("parameters") : std::nullopt);
  metadata.derivatives = read_pairs(root.at("derivatives"), "input");
  if (const auto list = root.find("param_derivatives"))
    metadata.param_derivatives = read_pairs(*list, "parameter");
  for (const auto & node : root.at("state_pairs").items())
  {
    const auto role = node.at("role").text();
    if (role != "state" && role != "force")
      node.at("role").fail("is '" + role + "'; it must be 'state' or 'force'");
    metadata.state_pairs.push_back(
        {node.at("current").text(), node.at("old").text(), role == "state", node.at("initial").numbers()});
  }
  if (const auto list = root.find("times"))
    for (const auto & node : list->items())
      metadata.times.emplace_back(node.at("current").text(), node.at("old").text());
  for (const auto & node : root.at("segments").items())
    metadata.segments.push_back(read_segment(node, root));
  for (const auto & [name, node] : root.at("variables").entries())
  {
    auto & variable = metadata.variables[name];
    variable.name = name;
    read_variable(node, variable);
  }
  for (const auto & [name, node] : root.at("builds").entries())
  {
    auto & build = metadata.builds[name];
    build.backends = node.at("backends").texts();
    build.cpu_targets = node.at("cpu_targets").texts();
    build.glibc_floor = node.at("glibc_floor").text();
    if (const auto target = node.find("inductor_cpu_target"))
      build.inductor_cpu_target = target->text();
    if (const auto targets = node.find("inductor_cpu_targets"))
      build.inductor_cpu_targets = targets->texts();
    else if (!build.inductor_cpu_target.empty())
      build.inductor_cpu_targets = {build.inductor_cpu_target};
    if (const auto features = node.find("cpu_features"))
      build.cpu_features = features->texts();
  }
  for (const auto & [name, node] : root.at("files").entries())
    metadata.files[name] = {node.at("sha256").text(), node.at("bytes").count()};
  if (const auto weights = root.find("weights"))
  {
    for (const auto & node : weights->items())
    {
      auto & weight = metadata.weights.emplace_back();
      weight.name = weight.reported = node.at("name").text();
      read_variable(node, weight);
    }
    for (const auto & [dtype, node] : root.at("weight_files").entries())
      metadata.weight_files[dtype] = node.text();
  }
  return metadata;
}
}
