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
      if (!segment.jvp)
        continue;
      for (const auto & pair : segment.jvp->pairs)
      {
        auto & block = out.emplace_back(names.variables.at(pair.output)->base_shape);
        const auto & base = names.variables.at(pair.input)->base_shape;
        block.insert(block.end(), base.begin(), base.end());
      }
      all[segment.jvp->stem] = {in, out, dtype};
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
      std::int64_t columns = 0;
      for (const auto & slice : segment.jacobian_given->givens)
        columns += slice.size;
      all[segment.jacobian_given->stem] = {in, {{n, columns}}, dtype};
    }
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
  virtual void run(ChunkWorkspace<Real> & w, std::int64_t ld, std::int64_t rows, bool jacobian) const = 0;
};

template <typename Real>
struct Chain<Real>::ForwardStage final : Chain<Real>::Stage
{
  Call<Real> value;
  /// Set when derivatives pass through this segment
  std::optional<Call<Real>> jvp;
  std::vector<Slot> sums;
  std::vector<Product> products;

  void run(ChunkWorkspace<Real> & w, std::int64_t ld, std::int64_t, bool jacobian) const override
  {
    if (!jacobian || !jvp)
    {
      value.run(w, ld);
      return;
    }
    jvp->run(w, ld);
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
  solve::NewtonConfig config;
  Call<Real> residual, jacobian;
  Slot u;
  /// Initial guess: first copies (unknown from input) and zeros, then the predictor
  std::vector<std::pair<Slot, Slot>> copies;
  std::vector<Slot> zeros;
  std::optional<Call<Real>> predictor;
  /// Sensitivities A X = -Bg D, all master inputs side by side
  std::optional<Call<Real>> jacobian_given;
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
    solve::newton<Real>(system, values, ld, rows, config, w.segment_verdicts.data());
    for (std::int64_t i = 0; i < rows; i++)
    {
      const auto & verdict = w.segment_verdicts[i];
      w.iterations[i] = std::max(w.iterations[i], verdict.iterations);
      w.dt_factor[i] = std::min(w.dt_factor[i], solve::step_factor(verdict, config.miters));
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

    if (!with_derivatives || !jacobian_given)
      return;
    jacobian.run(w, ld);
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

/// Derivatives are carried forward: D[variable][master input]. First one finds what depends on what, then what
/// the requested pairs need, then the slots.
template <typename Real>
struct Chain<Real>::Builder
{
  Chain & chain;
  const Metadata & metadata;
  const Graphs & graphs;
  Names names;
  std::int64_t next = 0;
  /// Where the current value of a name is; a segment may compute a name anew.
  std::map<std::string, Slot> slots;
  std::map<std::string, Slot> parameters;
  std::map<std::string, std::map<std::string, Block>> D;
  /// Per segment: master inputs whose derivative of a variable is needed after it
  std::vector<std::map<std::string, std::set<std::string>>> needed;

  Builder(Chain & chain, const Metadata & metadata, const Graphs & graphs)
      : chain(chain),
        metadata(metadata),
        graphs(graphs),
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

  /// (output, input) of a segment through which derivatives may pass
  static std::vector<artifact::Pair> local_pairs(const Segment & segment)
  {
    if (!segment.implicit)
      return segment.jvp ? segment.jvp->pairs : std::vector<artifact::Pair>{};
    std::vector<artifact::Pair> pairs;
    if (segment.jacobian_given)
      for (const auto & unknown : segment.unknowns)
        for (const auto & given : segment.jacobian_given->givens)
          pairs.push_back({unknown.name, given.name});
    return pairs;
  }

  void find_needed()
  {
    using Dependence = std::map<std::string, std::set<std::string>>;
    Dependence depends;
    for (const auto & input : metadata.inputs)
      depends[input.name] = {input.name};
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
    for (const auto & pair : metadata.derivatives)
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
        for (const auto & master : here[pair.output])
          if (before[i][pair.input].count(master))
            wanted[pair.input].insert(master);
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
    {
      chain._inputs.push_back(slots[input.name] = allocate(input.size));
      D[input.name][input.name] = {Block::Kind::IDENTITY};
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
    for (const auto & pair : metadata.derivatives)
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
    stage->config = {metadata.solver.atol, metadata.solver.rtol, metadata.solver.miters};
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
    std::map<std::string, std::map<std::string, Block>> fresh;
    bool on_path = false;
    for (const auto & [name, masters] : needed[index])
      on_path |= !masters.empty();
    if (!on_path || !segment.jvp)
    {
      replace(segment, {});
      return;
    }
    auto & jvp = stage.jvp.emplace();
    jvp.graph = graph(segment.jvp->stem);
    jvp.inputs = stage.value.inputs;
    jvp.outputs = stage.value.outputs;
    std::vector<Block> local;
    for (const auto & pair : segment.jvp->pairs)
    {
      const auto slot = allocate(size_of(pair.output) * size_of(pair.input));
      jvp.outputs.push_back(slot);
      local.push_back({Block::Kind::STORED, slot.offset, size_of(pair.input)});
    }
    for (const auto & [output, masters] : needed[index])
      for (const auto & master : masters)
      {
        std::vector<std::size_t> terms;
        for (std::size_t k = 0; k < local.size(); k++)
          if (segment.jvp->pairs[k].output == output &&
              D[segment.jvp->pairs[k].input][master].kind != Block::Kind::ZERO)
            terms.push_back(k);
        if (terms.size() == 1 && D[segment.jvp->pairs[terms[0]].input][master].kind == Block::Kind::IDENTITY)
        {
          fresh[output][master] = local[terms[0]];
          continue;
        }
        const auto sum = allocate(size_of(output) * size_of(master));
        const Block to{Block::Kind::STORED, sum.offset, size_of(master)};
        stage.sums.push_back(sum);
        for (const auto k : terms)
        {
          const auto & input = segment.jvp->pairs[k].input;
          stage.products.push_back({to, local[k], D[input][master], size_of(output), size_of(input), size_of(master)});
        }
        fresh[output][master] = to;
      }
    replace(segment, std::move(fresh));
  }

  void derive_implicit(std::size_t index)
  {
    const auto & segment = metadata.segments[index];
    auto & stage = static_cast<ImplicitStage &>(*chain._stages[index]);
    std::set<std::string> masters;
    for (const auto & [name, wanted] : needed[index])
      masters.insert(wanted.begin(), wanted.end());
    if (masters.empty() || !segment.jacobian_given)
    {
      replace(segment, {});
      return;
    }
    const auto n = segment.size;
    std::int64_t given_columns = 0;
    for (const auto & slice : segment.jacobian_given->givens)
      given_columns += slice.size;
    std::map<std::string, std::int64_t> column;
    for (const auto & master : masters)
    {
      column[master] = stage.columns;
      stage.columns += size_of(master);
    }
    stage.A = allocate(n * n);
    const auto b = allocate(n);
    stage.jacobian.outputs = {stage.A, b};
    auto & given = stage.jacobian_given.emplace();
    given.graph = graph(segment.jacobian_given->stem);
    given.inputs = stage.residual.inputs;
    const auto Bg = allocate(n * given_columns);
    given.outputs = {Bg};
    stage.X = allocate(n * stage.columns);
    std::map<std::string, std::map<std::string, Block>> fresh;
    for (const auto & master : masters)
    {
      const Block to{Block::Kind::STORED, stage.X.offset + column[master], stage.columns};
      for (const auto & slice : segment.jacobian_given->givens)
      {
        const auto & right = D[slice.name][master];
        if (right.kind == Block::Kind::ZERO)
          continue;
        const Block left{Block::Kind::STORED, Bg.offset + slice.offset, given_columns};
        stage.products.push_back({to, left, right, n, slice.size, size_of(master)});
      }
      for (const auto & slice : segment.unknowns)
        fresh[slice.name][master] = {Block::Kind::STORED, to.offset + slice.offset * stage.columns, stage.columns};
    }
    replace(segment, std::move(fresh));
  }
};

template <typename Real>
Chain<Real>::Chain(const Metadata & metadata, const Graphs & graphs)
{
  Builder(*this, metadata, graphs).build();
}

template <typename Real>
Chain<Real>::~Chain() = default;

template <typename Real>
void Chain<Real>::run(ChunkWorkspace<Real> & w, std::int64_t ld, std::int64_t rows, bool jacobian) const
{
  w.iterations.assign(rows, 0);
  w.residual.assign(rows, 0.0);
  w.dt_factor.assign(rows, 1.0);
  w.status.assign(rows, Status::CONVERGED);
  for (const auto & stage : _stages)
    stage->run(w, ld, rows, jacobian);
}

template class Chain<double>;
template class Chain<float>;
}
