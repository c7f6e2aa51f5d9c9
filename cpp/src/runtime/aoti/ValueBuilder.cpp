#include "aoti/ValueBuilder.h"

#include <algorithm>

#include "aoti/ForwardStage.h"
#include "aoti/ImplicitStage.h"

namespace matlaw::aoti
{
namespace
{
/// Components of the arrays of a Newton solve.
std::int64_t scratch_of(const artifact::Segment & segment)
{
  const auto & solver = segment.solver;
  const auto n = segment.size;
  if (!solver.krylov)
    return n * (n + 3);
  const auto basis = solver.krylov->method == solve::KrylovMethod::GMRES ? std::min(solver.krylov->restart, n) + 1 : 6;
  return basis * (n + basis) + 6 * n + 2 * segment.structure.preconditioner_size();
}
}

template <typename Real>
ValueBuilder<Real>::ValueBuilder(const artifact::Metadata & metadata, const Graphs & graphs, const Names & names,
                                 SlotAllocator & allocator)
    : _metadata(metadata),
      _graphs(graphs),
      _names(names),
      _allocator(allocator)
{
}

template <typename Real>
std::vector<std::unique_ptr<Stage<Real>>> ValueBuilder<Real>::build()
{
  for (const auto & input : _metadata.inputs)
    inputs.push_back(_slots[input.name] = _allocator.allocate(input.size));
  for (const auto & parameter : _metadata.parameters)
    parameters.push_back(_parameter_slots[parameter.name] = _allocator.allocate(parameter.size));
  std::vector<std::unique_ptr<Stage<Real>>> stages;
  for (const auto & segment : _metadata.segments)
    stages.push_back(segment.implicit ? implicit(segment) : forward(segment));
  for (const auto & output : _metadata.outputs)
    outputs.push_back(_slots.at(output.name));
  return stages;
}

template <typename Real>
std::vector<Slot> ValueBuilder<Real>::slots_of(const std::vector<std::string> & variables,
                                               const artifact::Segment & segment) const
{
  std::vector<Slot> found;
  for (const auto & name : variables)
    found.push_back(_slots.at(name));
  for (const auto & name : segment.parameters)
    found.push_back(_parameter_slots.at(name));
  return found;
}

template <typename Real>
std::vector<std::size_t> ValueBuilder<Real>::weights_of(const artifact::Segment & segment) const
{
  std::vector<std::size_t> found;
  for (const auto & name : segment.weights)
    found.push_back(_names.weight_positions.at(name));
  return found;
}

template <typename Real>
std::unique_ptr<Stage<Real>> ValueBuilder<Real>::forward(const artifact::Segment & segment)
{
  auto stage = std::make_unique<ForwardStage<Real>>();
  stage->value.graph = _graphs.at(segment.value).get();
  stage->value.inputs = slots_of(segment.inputs, segment);
  stage->value.weights = weights_of(segment);
  for (const auto & name : segment.outputs)
    stage->value.outputs.push_back(_slots[name] = _allocator.allocate(_names.size_of(name)));
  return stage;
}

template <typename Real>
std::unique_ptr<Stage<Real>> ValueBuilder<Real>::implicit(const artifact::Segment & segment)
{
  auto stage = std::make_unique<ImplicitStage<Real>>();
  stage->n = segment.size;
  stage->unknowns = segment.unknowns;
  stage->u = _allocator.allocate(segment.size);
  const auto of_unknown = [&](const artifact::Slice & slice)
  { return Slot{stage->u.offset + slice.offset, slice.size}; };
  const auto is_input = [&](const std::string & name)
  { return std::find(segment.inputs.begin(), segment.inputs.end(), name) != segment.inputs.end(); };
  for (const auto & slice : segment.unknowns)
  {
    stage->residual.inputs.push_back(of_unknown(slice));
    if (!segment.predictor && is_input(slice.name))
      stage->copies.emplace_back(of_unknown(slice), _slots.at(slice.name));
    else if (!segment.predictor && is_input(slice.name + "~1"))
      stage->copies.emplace_back(of_unknown(slice), _slots.at(slice.name + "~1"));
    else
      stage->zeros.push_back(of_unknown(slice));
  }
  const auto given = slots_of(segment.givens, segment);
  stage->residual.inputs.insert(stage->residual.inputs.end(), given.begin(), given.end());
  stage->residual.graph = _graphs.at(segment.residual).get();
  stage->residual.weights = weights_of(segment);
  stage->jacobian.inputs = stage->residual.inputs;
  stage->jacobian.weights = stage->residual.weights;
  const auto graph = [&](const std::string & stem) { return stem.empty() ? nullptr : _graphs.at(stem).get(); };
  stage->jacobian.graph = graph(segment.jacobian);
  if (const auto found = _graphs.find(segment.newton_step); found != _graphs.end())
    stage->newton_step = found->second.get();
  stage->matvec = graph(segment.matvec);
  stage->precond_setup = graph(segment.precond_setup);
  stage->structure = segment.structure;
  if (segment.predictor)
  {
    auto & predictor = stage->predictor.emplace();
    predictor.graph = _graphs.at(segment.predictor->stem).get();
    predictor.inputs = slots_of(segment.predictor->inputs, segment);
    predictor.weights = stage->residual.weights;
    for (const auto & name : segment.predictor->outputs)
      for (const auto & slice : segment.unknowns)
        if (slice.name == name)
          predictor.outputs.push_back(of_unknown(slice));
  }
  for (const auto & slice : segment.unknowns)
    _slots[slice.name] = of_unknown(slice);
  scratch = std::max(scratch, scratch_of(segment));
  return stage;
}

template class ValueBuilder<double>;
template class ValueBuilder<float>;
}
