#include "artifact/Metadata.h"

#include <set>

#include <nlohmann/json.hpp>

#include "artifact/file_bytes.h"
#include "support/sha256.h"
#include "support/text.h"

namespace matlaw::artifact
{
std::vector<std::int64_t> Variable::public_shape() const
{
  auto shape = sub_batch_shape;
  shape.insert(shape.end(), base_shape.begin(), base_shape.end());
  return shape;
}

std::int64_t Variable::base_size() const
{
  std::int64_t size = 1;
  for (const auto n : base_shape)
    size *= n;
  return size;
}

namespace
{
using nlohmann::json;

/// A value of the file with the path to it, so that an error can say where it is.
class Node
{
public:
  Node(const json & value, std::string path, const std::string & file)
      : _value(value),
        _path(std::move(path)),
        _file(file)
  {
  }

  Node at(const std::string & key) const
  {
    if (!_value.is_object())
      fail("must be an object");
    const auto found = _value.find(key);
    if (found == _value.end())
      Node(_value, join(key), _file).fail("is missing");
    return {*found, join(key), _file};
  }
  std::optional<Node> find(const std::string & key) const
  {
    if (!_value.is_object())
      fail("must be an object");
    if (const auto found = _value.find(key); found != _value.end() && !found->is_null())
      return Node(*found, join(key), _file);
    return std::nullopt;
  }
  std::vector<Node> items() const
  {
    if (!_value.is_array())
      fail("must be a list");
    std::vector<Node> nodes;
    for (std::size_t i = 0; i < _value.size(); i++)
      nodes.emplace_back(_value[i], _path + "[" + std::to_string(i) + "]", _file);
    return nodes;
  }
  std::vector<std::pair<std::string, Node>> entries() const
  {
    if (!_value.is_object())
      fail("must be an object");
    std::vector<std::pair<std::string, Node>> nodes;
    for (const auto & [key, value] : _value.items())
      nodes.emplace_back(key, Node(value, join(key), _file));
    return nodes;
  }
  std::string text() const
  {
    if (!_value.is_string())
      fail("must be a string");
    return _value.get<std::string>();
  }
  std::int64_t integer() const
  {
    if (!_value.is_number_integer())
      fail("must be an integer");
    return _value.get<std::int64_t>();
  }
  bool truth() const
  {
    if (!_value.is_boolean())
      fail("must be true or false");
    return _value.get<bool>();
  }
  std::int64_t count() const
  {
    const auto n = integer();
    if (n < 0)
      fail("must not be negative");
    return n;
  }
  double number() const
  {
    if (!_value.is_number())
      fail("must be a number");
    return _value.get<double>();
  }
  std::vector<std::string> texts() const
  {
    std::vector<std::string> values;
    for (const auto & node : items())
      values.push_back(node.text());
    return values;
  }
  std::vector<std::int64_t> counts() const
  {
    std::vector<std::int64_t> values;
    for (const auto & node : items())
      values.push_back(node.count());
    return values;
  }
  std::vector<double> numbers() const
  {
    std::vector<double> values;
    for (const auto & node : items())
      values.push_back(node.number());
    return values;
  }
  [[noreturn]] void fail(const std::string & what) const
  {
    throw FatalError(_file + ": '" + _path + "' " + what +
                     ". The artifact is damaged: regenerate it with matlaw-compile.");
  }

private:
  std::string join(const std::string & key) const { return _path.empty() ? key : _path + "." + key; }

  const json & _value;
  std::string _path;
  const std::string & _file;
};

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

std::string path_of(const std::string & folder)
{
  return folder + "/metadata.json";
}
}

std::vector<solve::NewtonConfig> Metadata::solvers() const
{
  std::vector<solve::NewtonConfig> found;
  for (const auto & segment : segments)
    if (segment.implicit)
      found.push_back(segment.solver);
  return found;
}

std::vector<std::string> Segment::stems() const
{
  std::vector<std::string> names;
  if (!implicit)
  {
    names.push_back(value);
    if (jvp)
      names.push_back(jvp->stem);
    if (param_jvp)
      names.push_back(param_jvp->stem);
    return names;
  }
  names = {residual};
  for (const auto & stem : {jacobian, matvec, precond_setup})
    if (!stem.empty())
      names.push_back(stem);
  if (predictor)
    names.push_back(predictor->stem);
  if (jacobian_given)
    names.push_back(jacobian_given->stem);
  if (dr_dparam)
    names.push_back(dr_dparam->stem);
  return names;
}

std::vector<std::string> Segment::substep_stems() const
{
  std::vector<std::string> names;
  for (const auto * jvp : {&substep_jvp, &substep_param_jvp})
    if (*jvp)
      names.push_back((*jvp)->stem);
  if (substep_jacobian_given)
    names.push_back(substep_jacobian_given->stem);
  if (substep_dr_dparam)
    names.push_back(substep_dr_dparam->stem);
  return names;
}

std::vector<std::string> Segment::native_stems() const
{
  std::vector<std::string> names;
  if (!newton_step.empty())
    names.push_back(newton_step);
  if (sensitivity)
    names.push_back(sensitivity->stem);
  return names;
}

static json parse(const std::string & path)
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

Source read_source(const std::string & folder)
{
  const auto path = path_of(folder);
  const auto document = parse(path);
  const Node root(document, "", path);
  const auto source = root.at("source");
  return {source.at("file").text(), source.at("text").text()};
}

Metadata read_metadata(const std::string & folder)
{
  const auto path = path_of(folder);
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

void check_seal(const std::string & folder)
{
  const auto path = path_of(folder);
  auto text = read_bytes(path);
  const auto refuse = [&](const std::string & why)
  {
    throw FatalError(path + " was edited or damaged after it was compiled: " + why +
                     ". Change the input file and regenerate the artifact with matlaw-compile.");
  };
  // Inside a JSON string a quote is escaped, so the key cannot be mistaken for text of the embedded source.
  const std::string key = "\"metadata_sha256\"";
  const auto at = text.find(key);
  if (at == std::string::npos)
    refuse("its seal 'metadata_sha256' is missing");
  auto start = text.find_first_not_of(" \t\r\n", at + key.size());
  if (start != std::string::npos && text[start] == ':')
    start = text.find_first_not_of(" \t\r\n", start + 1);
  if (start == std::string::npos || text[start] != '"' || start + 66 > text.size() || text[start + 65] != '"')
    refuse("its seal 'metadata_sha256' is not a string of 64 hex digits");
  const auto digest = text.substr(start + 1, 64);
  text.replace(start + 1, 64, 64, '0');
  if (support::sha256(text) != digest)
    refuse("its text does not match its seal 'metadata_sha256'");
}

void check_consistency(const Metadata & metadata, const std::string & folder)
{
  const auto path = path_of(folder);
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
