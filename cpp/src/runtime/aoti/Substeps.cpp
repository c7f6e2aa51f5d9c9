#include "aoti/Substeps.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>

#include "aoti/CompiledStep.h"
#include "aoti/increment.h"
#include "matlaw/errors.h"
#include "support/rows.h"

namespace matlaw::aoti
{
namespace
{
/// Components of some slots, for some rows: (all sizes, width), padded.
template <typename Real>
std::vector<Real> gather(const Real * arena, std::int64_t ld, const std::vector<Slot> & slots,
                         const std::vector<std::int32_t> & rows, std::int64_t width)
{
  std::int64_t components = 0;
  for (const auto & slot : slots)
    components += slot.size;
  std::vector<Real> gathered(components * width);
  Real * to = gathered.data();
  for (const auto & slot : slots)
  {
    support::gather_rows(arena + slot.offset * ld, ld, rows, to, width, slot.size);
    to += slot.size * width;
  }
  return gathered;
}

/// The settings that substeps follow: those of the implicit segment that may cut the increment most.
const solve::NewtonConfig & most_cutting(const std::vector<solve::NewtonConfig> & solvers)
{
  return *std::max_element(solvers.begin(), solvers.end(), [](const auto & a, const auto & b)
                           { return a.max_substepping_level < b.max_substepping_level; });
}
}

template <typename Real>
Substeps<Real>::Substeps(const artifact::Metadata & metadata, const Graphs & graphs)
    : _metadata(metadata),
      _increment(increment_of(metadata))
{
  if (_increment.ramps.empty())
    return;
  for (const auto & segment : metadata.segments)
    for (const auto & stem : segment.substep_stems())
      if (!graphs.count(stem))
        return;
  const auto with_graphs = with_substep_graphs(metadata);
  const auto build = [&](Want want, By by, const std::vector<artifact::Pair> & pairs, const auto & variables)
  {
    if (pairs.empty())
      return;
    _chains[int(want)] = std::make_unique<Chain<Real>>(with_graphs, graphs, by, Start::GIVEN);
    const auto is_seed = [&](const std::string & name)
    { return std::any_of(pairs.begin(), pairs.end(), [&](const auto & pair) { return pair.input == name; }); };
    std::map<std::string, std::int64_t> column, row;
    std::int64_t columns = 0, rows = 0;
    for (const auto & variable : variables)
    {
      column[variable.name] = columns;
      columns += is_seed(variable.name) ? variable.size : 0;
    }
    for (const auto & variable : metadata.outputs)
    {
      row[variable.name] = rows;
      rows += variable.size;
    }
    for (const auto & pair : pairs)
      _first_entries[int(want)].push_back(row.at(pair.output) * columns + column.at(pair.input));
  };
  build(Want::JACOBIAN, By::INPUTS, metadata.derivatives, metadata.inputs);
  build(Want::PARAM_JACOBIAN, By::PARAMETERS, metadata.param_derivatives, metadata.parameters);
}

template <typename Real>
bool Substeps<Real>::allowed(const std::vector<solve::NewtonConfig> & solvers) const
{
  return !_increment.ramps.empty() && !solvers.empty() && most_cutting(solvers).max_substepping_level > 0;
}

template <typename Real>
void Substeps<Real>::require(Want want, const std::vector<solve::NewtonConfig> & solvers) const
{
  if (want != Want::VALUES && allowed(solvers) && !_chains[int(want)])
    throw FatalError("Model '" + _metadata.name + "' may take substeps (max_substepping_level is " +
                     std::to_string(most_cutting(solvers).max_substepping_level) +
                     "), and derivatives through them need graphs of which this artifact has no .pt2. Load it with "
                     "backend = auto or native, or give max_substepping_level in the input file and regenerate the "
                     "artifact via matlaw-compile, or set max_substepping_level to 0.");
}

template <typename Real>
std::int64_t Substeps<Real>::columns(Want want) const
{
  const auto * carrying = _chains[int(want)].get();
  return carrying ? std::accumulate(carrying->seed_sizes().begin(), carrying->seed_sizes().end(), std::int64_t(0)) : 0;
}

template <typename Real>
std::int64_t Substeps<Real>::components(const Chain<Real> & chain, Want want) const
{
  if (_increment.ramps.empty())
    return 0;
  const auto & carrying = _chains[int(want)] ? *_chains[int(want)] : chain;
  std::int64_t parameters = 0;
  for (const auto & slot : chain.parameters())
    parameters += slot.size;
  // Inputs and derivatives of them as given, where each row's substep starts, and of the substep; outputs twice.
  const auto width = 1 + columns(want);
  return carrying.arena_size(columns(want) > 0) + carrying.scratch_size() + carrying.rare_size(columns(want) > 0) +
         parameters + width * (3 * _increment.inputs + 2 * _increment.outputs);
}

template <typename Real>
SubsteppedRows<Real> Substeps<Real>::run(const Chain<Real> & chain, ChunkWorkspace<Real> & w, std::int64_t ld,
                                         std::int64_t rows, Want want) const
{
  SubsteppedRows<Real> result;
  for (std::int64_t i = 0; i < rows; i++)
    if (w.status[i] == Status::NOT_CONVERGED)
      result.rows.push_back(std::int32_t(i));
  if (result.rows.empty())
    return result;
  if (!w.substeps)
    w.substeps = std::make_unique<ChunkWorkspace<Real>>();
  w.substeps->solvers = w.solvers;
  w.substeps->weights = w.weights;
  w.substeps->record = w.record;
  std::vector<std::int64_t> record_rows;
  for (std::size_t p = 0; w.record && p < result.rows.size(); p++)
    record_rows.push_back(w.record_rows[result.rows[p]]);
  const auto count = std::int64_t(result.rows.size());
  const auto width = support::whole_blocks(count);
  const auto inputs = gather(w.arena.data(), ld, chain.inputs(), result.rows, width);
  const auto parameters = gather(w.arena.data(), ld, chain.parameters(), result.rows, width);
  const auto * carrying = _chains[int(want)].get();
  result.columns = columns(want);
  result.ld = width;
  result.outputs.resize(_increment.outputs * width);
  result.derivatives.resize(_increment.outputs * result.columns * width);
  result.verdicts.resize(count);
  const auto given = seeds(want, result.columns, width);
  CompiledStep<Real> step(carrying ? *carrying : chain, result.columns, parameters.data(), width, *w.substeps,
                          record_rows);
  solve::substep<Real>(step, _increment, most_cutting(*w.solvers), width, count, inputs.data(), result.outputs.data(),
                       result.columns, given.data(), result.derivatives.data(), result.verdicts.data());
  return result;
}

/// Derivatives of all inputs by the seeds, (inputs, columns, ld): of an input by itself the identity.
template <typename Real>
std::vector<Real> Substeps<Real>::seeds(Want want, std::int64_t columns, std::int64_t ld) const
{
  std::vector<Real> found(_increment.inputs * columns * ld);
  if (want != Want::JACOBIAN)
    return found;
  std::int64_t component = 0, column = 0;
  for (const auto & input : _metadata.inputs)
  {
    if (std::any_of(_metadata.derivatives.begin(), _metadata.derivatives.end(),
                    [&](const auto & pair) { return pair.input == input.name; }))
      for (std::int64_t c = 0; c < input.size; c++, column++)
        std::fill_n(found.begin() + ((component + c) * columns + column) * ld, ld, Real(1));
    component += input.size;
  }
  return found;
}

template class Substeps<double>;
template class Substeps<float>;
}
