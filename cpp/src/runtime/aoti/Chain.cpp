#include "aoti/Chain.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "matlaw/native/abi.h"
#include "matlaw/solve/BatchedLU.h"
#include "solve/step_factor.h"

namespace matlaw::aoti
{
using artifact::Metadata;
using artifact::Segment;

namespace
{
/// Everything that is known by name: variables and parameters.
struct Names
{
  explicit Names(const Metadata & metadata)
  {
    for (const auto & [name, variable] : metadata.variables)
      variables[name] = &variable;
    for (const auto & variable : metadata.outputs)
      variables[variable.name] = &variable;
    for (const auto & variable : metadata.inputs)
      variables[variable.name] = &variable;
    for (const auto & parameter : metadata.parameters)
      parameters[parameter.name] = &parameter;
  }
  std::map<std::string, const artifact::Variable *> variables, parameters;
};

std::int64_t total_size(const std::vector<artifact::Slice> & slices)
{
  std::int64_t total = 0;
  for (const auto & slice : slices)
    total += slice.size;
  return total;
}

graph::Shape slot_shape(const artifact::Variable & variable)
{
  auto shape = variable.base_shape;
  shape.insert(shape.end(), variable.sub_batch_shape.begin(), variable.sub_batch_shape.end());
  return shape;
}
}

std::map<std::string, graph::Signature> signatures(const Metadata & metadata, at::ScalarType dtype)
{
  const Names names(metadata);
  const auto shapes_of = [&](const std::vector<std::string> & variables)
  {
    std::vector<graph::Shape> shapes;
    for (const auto & name : variables)
      shapes.push_back(slot_shape(*names.variables.at(name)));
    return shapes;
  };
  const auto with_parameters = [&](std::vector<graph::Shape> shapes, const Segment & segment)
  {
    for (const auto & name : segment.parameters)
      shapes.push_back(slot_shape(*names.parameters.at(name)));
    return shapes;
  };

  std::map<std::string, graph::Signature> all;
  for (const auto & segment : metadata.segments)
  {
    if (!segment.implicit)
    {
      const auto in = with_parameters(shapes_of(segment.inputs), segment);
      auto out = shapes_of(segment.outputs);
      all[segment.value] = {in, out, dtype};
      const auto block = [&](const artifact::Pair & pair, const artifact::Variable & by)
      {
        auto shape = names.variables.at(pair.output)->base_shape;
        shape.insert(shape.end(), by.base_shape.begin(), by.base_shape.end());
        return shape;
      };
      if (segment.jvp)
      {
        for (const auto & pair : segment.jvp->pairs)
          out.push_back(block(pair, *names.variables.at(pair.input)));
        all[segment.jvp->stem] = {in, out, dtype};
      }
      if (segment.param_jvp)
      {
        out.clear();
        for (const auto & pair : segment.param_jvp->pairs)
          out.push_back(block(pair, *names.parameters.at(pair.input)));
        all[segment.param_jvp->stem] = {in, out, dtype};
      }
      continue;
    }
    std::vector<std::string> unknowns;
    for (const auto & slice : segment.unknowns)
      unknowns.push_back(slice.name);
    auto in = shapes_of(unknowns);
    const auto given = shapes_of(segment.givens);
    in.insert(in.end(), given.begin(), given.end());
    in = with_parameters(in, segment);
    const auto n = segment.size;
    all[segment.residual] = {in, {{n}}, dtype};
    all[segment.jacobian] = {in, {{n, n}, {n}}, dtype};
    if (segment.jacobian_given)
    {
      all[segment.jacobian_given->stem] = {in, {{n, total_size(segment.jacobian_given->givens)}}, dtype};
    }
    if (segment.dr_dparam)
      all[segment.dr_dparam->stem] = {in, {{n, n}, {n, total_size(segment.dr_dparam->parameters)}}, dtype};
    if (segment.predictor)
      all[segment.predictor->stem] = {with_parameters(shapes_of(segment.predictor->inputs), segment),
                                      shapes_of(segment.predictor->outputs), dtype};
  }
  return all;
}

// ---------------------------------------------------------------------------------------------------------------------
// Stages: what a segment became
// ---------------------------------------------------------------------------------------------------------------------

namespace
{
/// A graph with the slots that it reads and writes.
template <typename Real>
struct Call
{
  const graph::Graph * graph = nullptr;
  std::vector<Slot> inputs, outputs;

  void run(ChunkWorkspace<Real> & w, std::int64_t ld) const
  {
    Real * arena = w.arena.data();
    w.graph_inputs.clear();
    w.graph_outputs.clear();
    for (const auto & slot : inputs)
      w.graph_inputs.push_back(arena + slot.offset * ld);
    for (const auto & slot : outputs)
      w.graph_outputs.push_back(arena + slot.offset * ld);
    graph->run(w.graph_inputs.data(), w.graph_outputs.data(), ld, ld);
  }
};

/// to += sign * left * right, or to += sign * left where `right` is the identity. Matrices in the arena.
struct Product
{
  Block to, left, right;
  std::int64_t p = 0, q = 0, r = 0;

  template <typename Real>
  void run(Real * arena, std::int64_t ld, Real sign) const
  {
    const auto view = [&](const Block & block)
    { return solve::MatrixView<Real>{arena + block.offset * ld, block.stride}; };
    const auto read_only = [&](const Block & block)
    { return solve::MatrixView<const Real>{arena + block.offset * ld, block.stride}; };
    if (right.kind == Block::Kind::IDENTITY)
      solve::add<Real>(view(to), read_only(left), sign, p, q, ld, ld);
    else
      solve::multiply_add<Real>(view(to), read_only(left), read_only(right), sign, p, q, r, ld, ld);
  }
};
}

template <typename Real>
struct Chain<Real>::Stage
{
  virtual ~Stage() = default;
  virtual void run(ChunkWorkspace<Real> & w, std::int64_t ld, std::int64_t rows, bool derivatives) const = 0;
};

template <typename Real>
struct Chain<Real>::ForwardStage final : Chain<Real>::Stage
{
  Call<Real> value;
  /// Set when derivatives pass through this segment, and when they begin at its parameters
  std::optional<Call<Real>> jvp, param_jvp;
  std::vector<Slot> sums;
  std::vector<Product> products;

  void run(ChunkWorkspace<Real> & w, std::int64_t ld, std::int64_t, bool derivatives) const override
  {
    if (!derivatives || !jvp)
      value.run(w, ld);
    else
      jvp->run(w, ld);
    if (!derivatives)
      return;
    if (param_jvp)
      param_jvp->run(w, ld);
    Real * arena = w.arena.data();
    for (const auto & sum : sums)
      std::fill_n(arena + sum.offset * ld, sum.size * ld, Real(0));
    for (const auto & product : products)
      product.run(arena, ld, Real(1));
  }
};

namespace
{
/// An implicit segment over the working set of a Newton solve.
template <typename Real>
class CompiledSystem final : public solve::NonlinearSystem<Real>
{
public:
  CompiledSystem(const Call<Real> & residual, const Call<Real> & jacobian,
                 const std::vector<artifact::Slice> & unknowns, std::int64_t size, ChunkWorkspace<Real> & w,
                 std::int64_t ld)
      : _residual(residual),
        _jacobian(jacobian),
        _unknowns(unknowns),
        _size(size),
        _w(w),
        _ld(ld)
  {
    // What follows the unknowns: givens and parameters. Read in place until rows leave.
    w.given_slots.clear();
    for (std::size_t k = unknowns.size(); k < residual.inputs.size(); k++)
      w.given_slots.push_back(w.arena.data() + residual.inputs[k].offset * ld);
  }

  std::int64_t size() const override { return _size; }

  void keep(const std::vector<std::int32_t> & positions) override
  {
    const auto rows = std::int64_t(positions.size());
    const auto ld = (rows + native::row_block - 1) / native::row_block * native::row_block;
    std::int64_t components = 0;
    for (std::size_t k = 0; k < _w.given_slots.size(); k++)
      components += _residual.inputs[_unknowns.size() + k].size;
    Real * to = _w.givens_next.reserve(std::max<std::int64_t>(components, 1) * ld);
    for (std::size_t k = 0; k < _w.given_slots.size(); k++)
    {
      const Real * from = _w.given_slots[k];
      _w.given_slots[k] = to;
      for (std::int64_t c = 0; c < _residual.inputs[_unknowns.size() + k].size; c++, from += _ld, to += ld)
      {
        for (std::int64_t i = 0; i < rows; i++)
          to[i] = from[positions[i]];
        std::fill(to + rows, to + ld, to[rows - 1]);
      }
    }
    std::swap(_w.givens, _w.givens_next);
    _ld = ld;
  }

  void residual(const Real * u, Real * b, std::int64_t ld, std::int64_t) override
  {
    set_inputs(u, ld);
    _w.graph_outputs.assign({b});
    _residual.graph->run(_w.graph_inputs.data(), _w.graph_outputs.data(), ld, ld);
  }

  void jacobian(const Real * u, Real * A, Real * b, std::int64_t ld, std::int64_t) override
  {
    set_inputs(u, ld);
    _w.graph_outputs.assign({A, b});
    _jacobian.graph->run(_w.graph_inputs.data(), _w.graph_outputs.data(), ld, ld);
  }

private:
  void set_inputs(const Real * u, std::int64_t ld)
  {
    _w.graph_inputs.clear();
    for (const auto & slice : _unknowns)
      _w.graph_inputs.push_back(u + slice.offset * ld);
    for (const auto * slot : _w.given_slots)
      _w.graph_inputs.push_back(slot);
  }

  const Call<Real> & _residual;
  const Call<Real> & _jacobian;
  const std::vector<artifact::Slice> & _unknowns;
  std::int64_t _size;
  ChunkWorkspace<Real> & _w;
  std::int64_t _ld;
};
}

template <typename Real>
struct Chain<Real>::ImplicitStage final : Chain<Real>::Stage
{
  std::int64_t n = 0;
  std::vector<artifact::Slice> unknowns;
  Call<Real> residual, jacobian;
  Slot u;
  /// Initial guess: first copies (unknown from input) and zeros, then the predictor
  std::vector<std::pair<Slot, Slot>> copies;
  std::vector<Slot> zeros;
  std::optional<Call<Real>> predictor;
  /// Sensitivities A X = -Bg D - P, by all seeds side by side; A is from `dr_dparam` or else from `jacobian`
  std::optional<Call<Real>> jacobian_given, dr_dparam;
  Slot A, X;
  std::int64_t columns = 0;
  std::vector<Product> products;

  void run(ChunkWorkspace<Real> & w, std::int64_t ld, std::int64_t rows, bool with_derivatives) const override
  {
    Real * arena = w.arena.data();
    for (const auto & slot : zeros)
      std::fill_n(arena + slot.offset * ld, slot.size * ld, Real(0));
    for (const auto & [to, from] : copies)
      std::copy_n(arena + from.offset * ld, from.size * ld, arena + to.offset * ld);
    if (predictor)
      predictor->run(w, ld);

    CompiledSystem<Real> system(residual, jacobian, unknowns, n, w, ld);
    w.segment_verdicts.assign(rows, {});
    Real * values = arena + u.offset * ld;
    solve::newton<Real>(system, values, ld, rows, w.solver, w.segment_verdicts.data());
    for (std::int64_t i = 0; i < rows; i++)
    {
      const auto & verdict = w.segment_verdicts[i];
      w.iterations[i] = std::max(w.iterations[i], verdict.iterations);
      w.dt_factor[i] = std::min(w.dt_factor[i], solve::step_factor(verdict, w.solver.miters));
      // NaN counts as the largest: it says most about why a row failed.
      if (!(verdict.final_residual <= w.residual[i]))
        w.residual[i] = verdict.final_residual;
      if (verdict.status == Status::CONVERGED)
        continue;
      w.status[i] = Status::NOT_CONVERGED;
      // Segments that follow give this row up at once.
      for (std::int64_t c = 0; c < n; c++)
        values[c * ld + i] = std::numeric_limits<Real>::quiet_NaN();
    }
    for (std::int64_t c = 0; c < n; c++)
      std::fill(values + c * ld + rows, values + (c + 1) * ld, values[c * ld + rows - 1]);

    if (!with_derivatives || columns == 0)
      return;
    (dr_dparam ? *dr_dparam : jacobian).run(w, ld);
    if (jacobian_given)
      jacobian_given->run(w, ld);
    std::fill_n(arena + X.offset * ld, X.size * ld, Real(0));
    for (const auto & product : products)
      product.run(arena, ld, Real(-1));
    w.singular.resize(ld);
    solve::lu_solve<Real>(arena + A.offset * ld, arena + X.offset * ld, n, columns, ld, ld, w.singular.data());
    for (std::int64_t i = 0; i < rows; i++)
      if (w.singular[i] && w.status[i] == Status::CONVERGED)
      {
        // Solved, but without a tangent: of no use to a host that asked for one.
        w.status[i] = Status::NOT_CONVERGED;
        w.dt_factor[i] = std::min(w.dt_factor[i], 0.25);
      }
  }
};

// ---------------------------------------------------------------------------------------------------------------------
// Building
// ---------------------------------------------------------------------------------------------------------------------

/// Derivatives are carried forward: D[variable][seed], where a seed is a master input or a promoted parameter. First
/// one finds what depends on what, then what the requested pairs need, then the slots.
template <typename Real>
struct Chain<Real>::Builder
{
  Chain & chain;
  const Metadata & metadata;
  const Graphs & graphs;
  By by;
  Names names;
  std::int64_t next = 0;
  /// Where the current value of a name is; a segment may compute a name anew.
  std::map<std::string, Slot> slots;
  std::map<std::string, Slot> parameters;
  std::map<std::string, std::map<std::string, Block>> D;
  std::map<std::string, std::int64_t> seed_size;
  /// Per segment: seeds by which the derivative of a variable is needed after it
  std::vector<std::map<std::string, std::set<std::string>>> needed;

  Builder(Chain & chain, const Metadata & metadata, const Graphs & graphs, By by)
      : chain(chain),
        metadata(metadata),
        graphs(graphs),
        by(by),
        names(metadata)
  {
  }

  Slot allocate(std::int64_t size)
  {
    const Slot slot{next, size};
    next += size;
    return slot;
  }

  const graph::Graph * graph(const std::string & stem) const { return graphs.at(stem).get(); }

  /// A parameter as a seed: apart from a variable of the same name.
  static std::string seed_of(const std::string & parameter) { return "parameter " + parameter; }

  /// Everything that derivatives may be by, with sizes.
  std::vector<std::pair<std::string, std::int64_t>> seeds() const
  {
    std::vector<std::pair<std::string, std::int64_t>> found;
    if (by == By::INPUTS)
      for (const auto & input : metadata.inputs)
        found.emplace_back(input.name, input.size);
    else
      for (const auto & parameter : metadata.parameters)
        found.emplace_back(seed_of(parameter.name), parameter.size);
    return found;
  }

  /// (output, seed) of all derivatives that were asked for
  std::vector<artifact::Pair> requested() const
  {
    if (by == By::INPUTS)
      return metadata.derivatives;
    auto pairs = metadata.param_derivatives;
    for (auto & pair : pairs)
      pair.input = seed_of(pair.input);
    return pairs;
  }

  /// Pairs of a forward segment by its inputs, then by its parameters as seeds.
  std::pair<std::vector<artifact::Pair>, std::vector<artifact::Pair>> forward_pairs(const Segment & segment) const
  {
    std::pair<std::vector<artifact::Pair>, std::vector<artifact::Pair>> pairs;
    if (segment.jvp)
      pairs.first = segment.jvp->pairs;
    if (segment.param_jvp && by == By::PARAMETERS)
      for (const auto & pair : segment.param_jvp->pairs)
        pairs.second.push_back({pair.output, seed_of(pair.input)});
    return pairs;
  }

  /// (output, input or seed) of a segment through which derivatives may pass, or where they begin
  std::vector<artifact::Pair> local_pairs(const Segment & segment) const
  {
    if (!segment.implicit)
    {
      auto [pairs, own] = forward_pairs(segment);
      pairs.insert(pairs.end(), own.begin(), own.end());
      return pairs;
    }
    std::vector<artifact::Pair> pairs;
    for (const auto & unknown : segment.unknowns)
    {
      if (segment.jacobian_given)
        for (const auto & given : segment.jacobian_given->givens)
          pairs.push_back({unknown.name, given.name});
      if (segment.dr_dparam && by == By::PARAMETERS)
        for (const auto & parameter : segment.dr_dparam->parameters)
          pairs.push_back({unknown.name, seed_of(parameter.name)});
    }
    return pairs;
  }

  void find_needed()
  {
    using Dependence = std::map<std::string, std::set<std::string>>;
    Dependence depends;
    for (const auto & [seed, size] : seeds())
      depends[seed] = {seed};
    std::vector<Dependence> before;
    for (const auto & segment : metadata.segments)
    {
      before.push_back(depends);
      for (const auto & name : segment.outputs)
        depends[name].clear();
      for (const auto & pair : local_pairs(segment))
        depends[pair.output].insert(before.back()[pair.input].begin(), before.back()[pair.input].end());
    }
    Dependence wanted;
    for (const auto & pair : requested())
      if (depends[pair.output].count(pair.input))
        wanted[pair.output].insert(pair.input);
    needed.assign(metadata.segments.size(), {});
    for (auto i = std::int64_t(metadata.segments.size()) - 1; i >= 0; i--)
    {
      const auto & segment = metadata.segments[i];
      auto & here = needed[i];
      for (const auto & name : segment.outputs)
      {
        here[name] = wanted[name];
        wanted[name].clear();
      }
      for (const auto & pair : local_pairs(segment))
        for (const auto & seed : here[pair.output])
          if (before[i][pair.input].count(seed))
            wanted[pair.input].insert(seed);
    }
  }

  std::vector<Slot> slots_of(const std::vector<std::string> & variables, const Segment & segment)
  {
    std::vector<Slot> found;
    for (const auto & name : variables)
      found.push_back(slots.at(name));
    for (const auto & name : segment.parameters)
      found.push_back(parameters.at(name));
    return found;
  }

  std::int64_t size_of(const std::string & name) const { return names.variables.at(name)->size; }

  /// Slots of values first: a call without derivatives then needs only the front of the arena.
  void build()
  {
    find_needed();
    for (const auto & input : metadata.inputs)
      chain._inputs.push_back(slots[input.name] = allocate(input.size));
    for (const auto & [seed, size] : seeds())
    {
      D[seed][seed] = {Block::Kind::IDENTITY};
      seed_size[seed] = size;
    }
    for (const auto & parameter : metadata.parameters)
      chain._parameters.push_back(parameters[parameter.name] = allocate(parameter.size));
    for (const auto & segment : metadata.segments)
      build_values(segment);
    for (const auto & output : metadata.outputs)
      chain._outputs.push_back(slots.at(output.name));
    chain._arena_values = next;
    for (std::size_t i = 0; i < metadata.segments.size(); i++)
      if (metadata.segments[i].implicit)
        derive_implicit(i);
      else
        derive_forward(i);
    for (const auto & pair : requested())
      chain._derivatives.push_back(D[pair.output][pair.input]);
    chain._arena_with_derivatives = next;
  }

  void build_values(const Segment & segment)
  {
    if (!segment.implicit)
    {
      auto stage = std::make_unique<ForwardStage>();
      stage->value.graph = graph(segment.value);
      stage->value.inputs = slots_of(segment.inputs, segment);
      for (const auto & name : segment.outputs)
        stage->value.outputs.push_back(slots[name] = allocate(size_of(name)));
      chain._stages.push_back(std::move(stage));
      return;
    }
    auto stage = std::make_unique<ImplicitStage>();
    stage->n = segment.size;
    stage->unknowns = segment.unknowns;
    stage->u = allocate(segment.size);
    const auto of_unknown = [&](const artifact::Slice & slice)
    { return Slot{stage->u.offset + slice.offset, slice.size}; };
    const auto is_input = [&](const std::string & name)
    { return std::find(segment.inputs.begin(), segment.inputs.end(), name) != segment.inputs.end(); };
    for (const auto & slice : segment.unknowns)
    {
      stage->residual.inputs.push_back(of_unknown(slice));
      if (!segment.predictor && is_input(slice.name))
        stage->copies.emplace_back(of_unknown(slice), slots.at(slice.name));
      else if (!segment.predictor && is_input(slice.name + "~1"))
        stage->copies.emplace_back(of_unknown(slice), slots.at(slice.name + "~1"));
      else
        stage->zeros.push_back(of_unknown(slice));
    }
    const auto given = slots_of(segment.givens, segment);
    stage->residual.inputs.insert(stage->residual.inputs.end(), given.begin(), given.end());
    stage->residual.graph = graph(segment.residual);
    stage->jacobian.graph = graph(segment.jacobian);
    stage->jacobian.inputs = stage->residual.inputs;
    if (segment.predictor)
    {
      auto & predictor = stage->predictor.emplace();
      predictor.graph = graph(segment.predictor->stem);
      predictor.inputs = slots_of(segment.predictor->inputs, segment);
      for (const auto & name : segment.predictor->outputs)
        for (const auto & slice : segment.unknowns)
          if (slice.name == name)
            predictor.outputs.push_back(of_unknown(slice));
    }
    for (const auto & slice : segment.unknowns)
      slots[slice.name] = of_unknown(slice);
    chain._scratch = std::max(chain._scratch, segment.size * (segment.size + 3));
    chain._stages.push_back(std::move(stage));
  }

  /// Drops the derivatives of what a segment computes anew, after all of it have been read.
  void replace(const Segment & segment, std::map<std::string, std::map<std::string, Block>> fresh)
  {
    for (const auto & name : segment.outputs)
      D[name] = std::move(fresh[name]);
  }

  void derive_forward(std::size_t index)
  {
    const auto & segment = metadata.segments[index];
    auto & stage = static_cast<ForwardStage &>(*chain._stages[index]);
    const auto [passing, beginning] = forward_pairs(segment);
    /// A block of a graph of this segment, and where it is once a term needs it
    struct Local
    {
      artifact::Pair pair;
      Block block;
    };
    std::vector<Local> local;
    const auto call = [&](const std::string & stem, std::vector<Slot> outputs,
                          const std::vector<artifact::Pair> & pairs, const auto & size_of_input)
    {
      for (const auto & pair : pairs)
      {
        const auto columns = size_of_input(pair.input);
        const auto slot = allocate(size_of(pair.output) * columns);
        outputs.push_back(slot);
        local.push_back({pair, {Block::Kind::STORED, slot.offset, columns}});
      }
      return Call<Real>{graph(stem), stage.value.inputs, std::move(outputs)};
    };
    if (uses(index, passing))
      stage.jvp = call(segment.jvp->stem, stage.value.outputs, passing,
                       [&](const std::string & input) { return size_of(input); });
    if (uses(index, beginning))
      stage.param_jvp =
          call(segment.param_jvp->stem, {}, beginning, [&](const std::string & seed) { return seed_size.at(seed); });

    std::map<std::string, std::map<std::string, Block>> fresh;
    for (const auto & [output, seeds] : needed[index])
      for (const auto & seed : seeds)
      {
        std::vector<const Local *> terms;
        for (const auto & candidate : local)
          if (candidate.pair.output == output && D[candidate.pair.input][seed].kind != Block::Kind::ZERO)
            terms.push_back(&candidate);
        if (terms.size() == 1 && D[terms[0]->pair.input][seed].kind == Block::Kind::IDENTITY)
        {
          fresh[output][seed] = terms[0]->block;
          continue;
        }
        const auto columns = seed_size.at(seed);
        const auto sum = allocate(size_of(output) * columns);
        const Block to{Block::Kind::STORED, sum.offset, columns};
        stage.sums.push_back(sum);
        for (const auto * term : terms)
          stage.products.push_back(
              {to, term->block, D[term->pair.input][seed], size_of(output), term->block.stride, columns});
        fresh[output][seed] = to;
      }
    replace(segment, std::move(fresh));
  }

  /// Whether a derivative that is needed after a segment has a term with one of these pairs.
  bool uses(std::size_t index, const std::vector<artifact::Pair> & pairs)
  {
    for (const auto & pair : pairs)
      for (const auto & seed : needed[index][pair.output])
        if (D[pair.input][seed].kind != Block::Kind::ZERO)
          return true;
    return false;
  }

  void derive_implicit(std::size_t index)
  {
    const auto & segment = metadata.segments[index];
    auto & stage = static_cast<ImplicitStage &>(*chain._stages[index]);
    std::set<std::string> seeds;
    for (const auto & [name, wanted] : needed[index])
      seeds.insert(wanted.begin(), wanted.end());
    if (seeds.empty())
    {
      replace(segment, {});
      return;
    }
    const auto n = segment.size;
    std::map<std::string, std::int64_t> column;
    for (const auto & seed : seeds)
    {
      column[seed] = stage.columns;
      stage.columns += seed_size.at(seed);
    }
    stage.A = allocate(n * n);
    stage.jacobian.outputs = {stage.A, allocate(n)};
    stage.X = allocate(n * stage.columns);
    const auto add = [&](const std::string & seed, const Block & left, std::int64_t inner, const Block & right)
    {
      const Block to{Block::Kind::STORED, stage.X.offset + column[seed], stage.columns};
      stage.products.push_back({to, left, right, n, inner, seed_size.at(seed)});
    };
    if (segment.dr_dparam && by == By::PARAMETERS)
    {
      const auto total = total_size(segment.dr_dparam->parameters);
      const auto P = allocate(n * total);
      stage.dr_dparam = {graph(segment.dr_dparam->stem), stage.residual.inputs, {stage.A, P}};
      for (const auto & slice : segment.dr_dparam->parameters)
        if (const auto seed = seed_of(slice.name); seeds.count(seed))
          add(seed, {Block::Kind::STORED, P.offset + slice.offset, total}, slice.size, {Block::Kind::IDENTITY});
    }
    if (segment.jacobian_given)
    {
      const auto & givens = segment.jacobian_given->givens;
      const auto total = total_size(givens);
      std::optional<Slot> Bg;
      for (const auto & seed : seeds)
        for (const auto & slice : givens)
        {
          const auto right = D[slice.name][seed];
          if (right.kind == Block::Kind::ZERO)
            continue;
          if (!Bg)
            Bg = allocate(n * total);
          add(seed, {Block::Kind::STORED, Bg->offset + slice.offset, total}, slice.size, right);
        }
      if (Bg)
        stage.jacobian_given = {graph(segment.jacobian_given->stem), stage.residual.inputs, {*Bg}};
    }
    std::map<std::string, std::map<std::string, Block>> fresh;
    for (const auto & seed : seeds)
      for (const auto & slice : segment.unknowns)
        fresh[slice.name][seed] = {Block::Kind::STORED, stage.X.offset + slice.offset * stage.columns + column[seed],
                                   stage.columns};
    replace(segment, std::move(fresh));
  }
};

template <typename Real>
Chain<Real>::Chain(const Metadata & metadata, const Graphs & graphs, By by)
{
  Builder(*this, metadata, graphs, by).build();
}

template <typename Real>
Chain<Real>::~Chain() = default;

template <typename Real>
void Chain<Real>::run(ChunkWorkspace<Real> & w, std::int64_t ld, std::int64_t rows, bool derivatives) const
{
  w.iterations.assign(rows, 0);
  w.residual.assign(rows, 0.0);
  w.dt_factor.assign(rows, 1.0);
  w.status.assign(rows, Status::CONVERGED);
  for (const auto & stage : _stages)
    stage->run(w, ld, rows, derivatives);
}

template class Chain<double>;
template class Chain<float>;
}
