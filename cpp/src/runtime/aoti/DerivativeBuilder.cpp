#include "aoti/DerivativeBuilder.h"

#include <optional>
#include <set>

namespace matlaw::aoti
{
template <typename Real>
DerivativeBuilder<Real>::DerivativeBuilder(const artifact::Metadata & metadata, const Graphs & graphs,
                                           const Names & names, By by, Start start, SlotAllocator & allocator)
    : _metadata(metadata),
      _graphs(graphs),
      _names(names),
      _allocator(allocator),
      _dependence(metadata, by, start)
{
}

template <typename Real>
std::vector<Block> DerivativeBuilder<Real>::build(const std::vector<std::unique_ptr<Stage<Real>>> & stages)
{
  begin();
  for (std::size_t i = 0; i < stages.size(); i++)
    if (_metadata.segments[i].implicit)
      implicit(i, static_cast<ImplicitStage<Real> &>(*stages[i]));
    else
      forward(i, static_cast<ForwardStage<Real> &>(*stages[i]));
  std::vector<Block> requested;
  for (const auto & pair : _dependence.requested())
    requested.push_back(_derivatives[pair.output][pair.input]);
  return requested;
}

template <typename Real>
void DerivativeBuilder<Real>::begin()
{
  std::int64_t columns = 0;
  for (const auto & [seed, size] : _dependence.seeds())
  {
    _seed_size[seed] = size;
    seed_sizes.push_back(size);
    columns += size;
    if (!_dependence.given() || _dependence.by_parameters())
      _derivatives[seed][seed] = {Block::Kind::IDENTITY};
  }
  if (!_dependence.given())
    return;
  for (const auto & input : _metadata.inputs)
  {
    auto at = given.emplace_back(_allocator.allocate(input.size * columns)).offset;
    for (const auto & [seed, size] : _dependence.seeds())
    {
      _derivatives[input.name][seed] = {Block::Kind::STORED, at, columns};
      at += size;
    }
  }
}

/// Drops the derivatives of what a segment computes anew, after all of it have been read.
template <typename Real>
void DerivativeBuilder<Real>::replace(const artifact::Segment & segment, Blocks fresh)
{
  for (const auto & name : segment.outputs)
    _derivatives[name] = std::move(fresh[name]);
}

template <typename Real>
void DerivativeBuilder<Real>::forward(std::size_t index, ForwardStage<Real> & stage)
{
  const auto & segment = _metadata.segments[index];
  const auto [passing, beginning] = _dependence.forward_pairs(segment);
  /// A block of a graph of this segment, and where it is once a term needs it
  struct Local
  {
    artifact::Pair pair;
    Block block;
  };
  std::vector<Local> local;
  const auto call = [&](const std::string & stem, std::vector<Slot> outputs, const std::vector<artifact::Pair> & pairs,
                        const auto & size_of_input)
  {
    for (const auto & pair : pairs)
    {
      const auto columns = size_of_input(pair.input);
      const auto slot = _allocator.allocate(_names.size_of(pair.output) * columns);
      outputs.push_back(slot);
      local.push_back({pair, {Block::Kind::STORED, slot.offset, columns}});
    }
    return Call<Real>{_graphs.at(stem).get(), stage.value.inputs, std::move(outputs), stage.value.weights};
  };
  if (uses(index, passing))
    stage.jvp = call(segment.jvp->stem, stage.value.outputs, passing,
                     [&](const std::string & input) { return _names.size_of(input); });
  if (uses(index, beginning))
    stage.param_jvp =
        call(segment.param_jvp->stem, {}, beginning, [&](const std::string & seed) { return _seed_size.at(seed); });

  Blocks fresh;
  for (const auto & [output, seeds] : _dependence.needed(index))
    for (const auto & seed : seeds)
    {
      std::vector<const Local *> terms;
      for (const auto & candidate : local)
        if (candidate.pair.output == output && _derivatives[candidate.pair.input][seed].kind != Block::Kind::ZERO)
          terms.push_back(&candidate);
      if (terms.size() == 1 && _derivatives[terms[0]->pair.input][seed].kind == Block::Kind::IDENTITY)
      {
        fresh[output][seed] = terms[0]->block;
        continue;
      }
      const auto columns = _seed_size.at(seed);
      const auto sum = _allocator.allocate(_names.size_of(output) * columns);
      const Block to{Block::Kind::STORED, sum.offset, columns};
      stage.sums.push_back(sum);
      for (const auto * term : terms)
        stage.products.push_back({to, term->block, _derivatives[term->pair.input][seed], _names.size_of(output),
                                  term->block.stride, columns});
      fresh[output][seed] = to;
    }
  replace(segment, std::move(fresh));
}

/// Whether a derivative that is needed after a segment has a term with one of these pairs.
template <typename Real>
bool DerivativeBuilder<Real>::uses(std::size_t index, const std::vector<artifact::Pair> & pairs)
{
  for (const auto & pair : pairs)
    for (const auto & seed : _dependence.needed(index).at(pair.output))
      if (_derivatives[pair.input][seed].kind != Block::Kind::ZERO)
        return true;
  return false;
}

template <typename Real>
void DerivativeBuilder<Real>::implicit(std::size_t index, ImplicitStage<Real> & stage)
{
  const auto & segment = _metadata.segments[index];
  std::set<std::string> seeds;
  for (const auto & [name, wanted] : _dependence.needed(index))
    seeds.insert(wanted.begin(), wanted.end());
  if (seeds.empty())
  {
    replace(segment, {});
    return;
  }
  if (segment.sensitivity && !_dependence.by_parameters())
    if (const auto kernel = _graphs.find(segment.sensitivity->stem); kernel != _graphs.end())
    {
      sparse(segment, *kernel->second, seeds, stage);
      return;
    }
  const auto n = segment.size;
  std::map<std::string, std::int64_t> column;
  for (const auto & seed : seeds)
  {
    column[seed] = stage.columns;
    stage.columns += _seed_size.at(seed);
  }
  const bool by_parameters = _dependence.by_parameters();
  stage.sensitivity = by_parameters ? segment.param_sensitivity : segment.input_sensitivity;
  stage.iterative_sensitivity =
      by_parameters ? &solve::NewtonConfig::param_sensitivity : &solve::NewtonConfig::input_sensitivity;
  stage.A = _allocator.allocate(n * n);
  stage.jacobian.outputs = {stage.A, _allocator.allocate(n)};
  stage.X = _allocator.allocate(n * stage.columns);
  const auto add = [&](const std::string & seed, const Block & left, std::int64_t inner, const Block & right)
  {
    const Block to{Block::Kind::STORED, stage.X.offset + column[seed], stage.columns};
    stage.products.push_back({to, left, right, n, inner, _seed_size.at(seed)});
  };
  if (segment.dr_dparam && _dependence.by_parameters())
  {
    const auto total = total_size(segment.dr_dparam->parameters);
    const auto P = _allocator.allocate(n * total);
    stage.dr_dparam = {
        _graphs.at(segment.dr_dparam->stem).get(), stage.residual.inputs, {stage.A, P}, stage.residual.weights};
    for (const auto & slice : segment.dr_dparam->parameters)
      if (const auto seed = Dependence::seed_of(slice.name); seeds.count(seed))
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
        const auto right = _derivatives[slice.name][seed];
        if (right.kind == Block::Kind::ZERO)
          continue;
        if (!Bg)
          Bg = _allocator.allocate(n * total);
        add(seed, {Block::Kind::STORED, Bg->offset + slice.offset, total}, slice.size, right);
      }
    if (Bg)
      stage.jacobian_given = {
          _graphs.at(segment.jacobian_given->stem).get(), stage.residual.inputs, {*Bg}, stage.residual.weights};
  }
  Blocks fresh;
  for (const auto & seed : seeds)
    for (const auto & slice : segment.unknowns)
      fresh[slice.name][seed] = {Block::Kind::STORED, stage.X.offset + slice.offset * stage.columns + column[seed],
                                 stage.columns};
  replace(segment, std::move(fresh));
}

/// The same by the kernel that solves for the sensitivities by all givens.
template <typename Real>
void DerivativeBuilder<Real>::sparse(const artifact::Segment & segment, const graph::Graph & kernel,
                                     const std::set<std::string> & seeds, ImplicitStage<Real> & stage)
{
  const auto n = segment.size;
  const auto & givens = segment.sensitivity->givens;
  auto & sensitivity = stage.sparse.emplace();
  sensitivity.columns = total_size(givens);
  sensitivity.S = _allocator.allocate(n * sensitivity.columns);
  sensitivity.sound = _allocator.allocate(1);
  sensitivity.kernel = {&kernel, stage.residual.inputs, {sensitivity.S, sensitivity.sound}, stage.residual.weights};
  sensitivity.jacobian_given = _graphs.at(segment.jacobian_given->stem).get();
  stage.columns = sensitivity.columns;
  Blocks fresh;
  for (const auto & seed : seeds)
  {
    std::vector<const artifact::Slice *> terms;
    for (const auto & slice : givens)
      if (_derivatives[slice.name][seed].kind != Block::Kind::ZERO)
        terms.push_back(&slice);
    const auto columns = _seed_size.at(seed);
    Block whole{Block::Kind::STORED, 0, columns};
    if (terms.size() == 1 && _derivatives[terms[0]->name][seed].kind == Block::Kind::IDENTITY)
      whole = {Block::Kind::STORED, sensitivity.S.offset + terms[0]->offset, sensitivity.columns};
    else
    {
      const auto sum = sensitivity.sums.emplace_back(_allocator.allocate(n * columns));
      whole.offset = sum.offset;
      for (const auto * slice : terms)
        sensitivity.products.push_back(
            {whole,
             {Block::Kind::STORED, sensitivity.S.offset + slice->offset, sensitivity.columns},
             _derivatives[slice->name][seed],
             n,
             slice->size,
             columns});
    }
    for (const auto & slice : segment.unknowns)
      fresh[slice.name][seed] = {Block::Kind::STORED, whole.offset + slice.offset * whole.stride, whole.stride};
  }
  replace(segment, std::move(fresh));
}

template class DerivativeBuilder<double>;
template class DerivativeBuilder<float>;
}
