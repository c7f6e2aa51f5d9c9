#include "aoti/Evaluator.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <limits>
#include <mutex>
#include <optional>

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include "aoti/BatchCall.h"
#include "aoti/GuardedChain.h"
#include "aoti/InPlace.h"
#include "aoti/PairLayout.h"
#include "aoti/Substeps.h"
#include "aoti/WorkspaceStock.h"
#include "matlaw/native/abi.h"
#include "support/FloatingPointDefaults.h"
#include "support/ThreadPool.h"
#include "support/rows.h"

namespace matlaw::aoti
{
namespace
{
template <typename List>
const artifact::Variable & find(const List & list, const std::string & name)
{
  return *std::find_if(list.begin(), list.end(), [&](const auto & variable) { return variable.name == name; });
}

template <typename Real>
class TypedEvaluator final : public Evaluator
{
public:
  TypedEvaluator(const artifact::Metadata & metadata, const Graphs & graphs, at::ScalarType dtype,
                 const Chunking & chunking)
      : _metadata(metadata),
        _chain(metadata, graphs),
        _parameter_chain(metadata, graphs, By::PARAMETERS),
        _guarded(metadata, _chain),
        _substeps(metadata, graphs),
        _dtype(dtype)
  {
    for (const auto & pair : metadata.derivatives)
      _pairs[int(Want::JACOBIAN)].emplace_back(find(metadata.outputs, pair.output), find(metadata.inputs, pair.input),
                                               pair.batch_independent);
    for (const auto & pair : metadata.param_derivatives)
      _pairs[int(Want::PARAM_JACOBIAN)].emplace_back(find(metadata.outputs, pair.output),
                                                     find(metadata.parameters, pair.input), pair.batch_independent);
    ChunkPlan::ByWant bytes_per_row{}, rare_bytes_per_row{}, substep_bytes_per_row{};
    for (const auto want : {Want::VALUES, Want::JACOBIAN, Want::PARAM_JACOBIAN})
    {
      const auto & chain = this->chain(want);
      bytes_per_row[int(want)] =
          std::int64_t(sizeof(Real)) * (chain.arena_size(want != Want::VALUES) + chain.scratch_size());
      rare_bytes_per_row[int(want)] = std::int64_t(sizeof(Real)) * chain.rare_size(want != Want::VALUES);
      substep_bytes_per_row[int(want)] = std::int64_t(sizeof(Real)) * _substeps.components(chain, want);
    }
    for (const auto want : {Want::VALUES, Want::JACOBIAN, Want::PARAM_JACOBIAN})
      _in_place.emplace_back(metadata, this->chain(want), pairs(want), needs_blocks(want));
    _plan = ChunkPlan(bytes_per_row, rare_bytes_per_row, substep_bytes_per_row, chunking);
  }

  std::int64_t memory_per_call(std::int64_t threads, const std::vector<solve::NewtonConfig> & solvers) const override
  {
    return _plan.most_bytes(threads, _substeps.allowed(solvers));
  }

  void require_room(const std::vector<solve::NewtonConfig> & solvers) const override
  {
    _plan.require_room(_metadata.name, _substeps.allowed(solvers));
  }

  Evaluation evaluate(const Arguments & arguments, Want want, std::int64_t threads,
                      const TakeBlocks & take) const override
  {
    _substeps.require(want, arguments.solvers);
    const auto * weights = arguments.weights ? arguments.weights->pointers.data() : nullptr;
    const auto rows = arguments.batch.rows();
    // What a row cost in the last call says how many threads are worth waking. No bit of a result depends on it.
    auto & seconds = _seconds_per_row[std::size_t(want)];
    const auto cut =
        _plan.cut(want, threads, _substeps.allowed(arguments.solvers), rows, seconds.load(std::memory_order_relaxed));
    if (take)
    {
      const auto part = rows_of_a_part(want, cut);
      BatchCall<Real> call(_metadata, arguments, _dtype, pairs(want), constant_blocks(want, weights), part);
      for (std::int64_t first = 0; first < rows; first += part)
      {
        const auto count = std::min(part, rows - first);
        call.keep_blocks_from(first);
        run_rows(call, want, first, count, cut);
        take(first, count, call.blocks());
      }
      return call.finish();
    }
    BatchCall<Real> call(_metadata, arguments, _dtype, pairs(want), constant_blocks(want, weights));
    if (rows > 0)
    {
      const auto start = std::chrono::steady_clock::now();
      const auto used = run_rows(call, want, 0, rows, cut);
      const std::chrono::duration<float> taken = std::chrono::steady_clock::now() - start;
      seconds.store(taken.count() * float(used) / float(rows), std::memory_order_relaxed);
    }
    return call.finish();
  }

  PointVerdict evaluate_point(const std::vector<at::Tensor> & parameters,
                              const std::vector<solve::NewtonConfig> & solvers, const WeightSet * weights,
                              const double * inputs, double * outputs, double * jacobian) const override
  {
    const support::FloatingPointDefaults defaults;
    const Lease lease(_stock);
    auto & w = *lease;
    w.solvers = &solvers;
    w.weights = weights ? weights->pointers.data() : nullptr;
    w.record = nullptr;
    constexpr std::int64_t ld = native::row_block;
    Real * arena = w.arena.reserve(std::max<std::int64_t>(_chain.arena_size(jacobian), 1) * ld);
    for (std::size_t k = 0; k < _metadata.inputs.size(); k++)
    {
      fill_lanes(inputs, _metadata.inputs[k], arena + _chain.inputs()[k].offset * ld);
      inputs += _metadata.inputs[k].size;
    }
    for (std::size_t k = 0; k < _metadata.parameters.size(); k++)
      fill_lanes(parameters[k].template const_data_ptr<Real>(), _metadata.parameters[k],
                 arena + _chain.parameters()[k].offset * ld);
    const auto want = jacobian ? Want::JACOBIAN : Want::VALUES;
    _substeps.require(want, solvers);
    _guarded.run(_chain, w, ld, 1, jacobian);
    PointVerdict verdict{w.status[0], w.iterations[0], w.dt_factor[0], w.residual[0], w.status[0] == Status::CONVERGED};
    SubsteppedRows<Real> taken;
    if (_substeps.allowed(solvers))
      taken = _substeps.run(_chain, w, ld, 1, want);
    const bool cut = !taken.rows.empty();
    if (cut)
    {
      const auto & said = taken.verdicts[0];
      verdict = {said.status, verdict.iterations + said.iterations, said.dt_factor, said.residual, said.substeps};
    }

    const bool converged = verdict.status == Status::CONVERGED;
    constexpr auto nan = std::numeric_limits<double>::quiet_NaN();
    std::int64_t component = 0;
    for (std::size_t k = 0; k < _metadata.outputs.size(); k++)
    {
      const auto & variable = _metadata.outputs[k];
      const Real * slot = cut ? taken.outputs.data() + component * taken.ld : arena + _chain.outputs()[k].offset * ld;
      const auto stride = cut ? taken.ld : ld;
      component += variable.size;
      const auto base = std::max<std::int64_t>(variable.base_size(), 1);
      const auto sub_batch = variable.size / base;
      for (std::int64_t i = 0; i < variable.size; i++)
        outputs[i] = converged ? double(slot[(i % base * sub_batch + i / base) * stride]) : nan;
      outputs += variable.size;
    }
    if (jacobian)
      for (std::size_t k = 0; k < _chain.derivatives().size(); k++)
      {
        const auto & pair = pairs(want)[k];
        const runtime::RowPlace<double> place{jacobian, pair.size()};
        if (!converged)
          std::fill_n(jacobian, pair.size(), nan);
        else if (cut)
          pair.copy_row(taken.derivatives.data() + _substeps.first_entry(want, k) * taken.ld, taken.columns, taken.ld,
                        place);
        else
          pair.copy(_chain.derivatives()[k], arena, ld, 1, place);
        jacobian += pair.size();
      }
    return verdict;
  }

private:
  using Lease = typename WorkspaceStock<Real>::Lease;

  /// The chain that a call runs. Where values and parameters are in the arena is the same in both.
  const Chain<Real> & chain(Want want) const { return want == Want::PARAM_JACOBIAN ? _parameter_chain : _chain; }

  const std::vector<PairLayout> & pairs(Want want) const { return _pairs[int(want)]; }

  /// Whether a derivative that is wanted differs from row to row; others are known.
  bool needs_blocks(Want want) const
  {
    return std::any_of(pairs(want).begin(), pairs(want).end(),
                       [](const auto & pair) { return !pair.batch_independent(); });
  }

  const InPlace<Real> & in_place(Want want) const { return _in_place[std::size_t(want)]; }

  /// One value, (*sub_batch, *base), into all columns of a slot of one block of rows.
  template <typename From>
  static void fill_lanes(const From * value, const artifact::Variable & variable, Real * slot)
  {
    const auto base = std::max<std::int64_t>(variable.base_size(), 1);
    const auto sub_batch = variable.size / base;
    for (std::int64_t b = 0; b < base; b++)
      for (std::int64_t s = 0; s < sub_batch; s++, slot += native::row_block)
        std::fill_n(slot, native::row_block, Real(value[s * base + b]));
  }

  /// Rows of which the blocks are kept at once: chunks for all threads, and more as long as the blocks are small.
  std::int64_t rows_of_a_part(Want want, const ChunkPlan::Cut & cut) const
  {
    constexpr std::int64_t small = std::int64_t(16) << 20;
    std::int64_t bytes = 0;
    for (const auto & pair : pairs(want))
      bytes += pair.batch_independent() ? 0 : pair.size() * std::int64_t(sizeof(Real));
    const auto round = cut.rows * cut.threads;
    return std::max<std::int64_t>(small / std::max<std::int64_t>(bytes * round, 1), 1) * round;
  }

  /// Runs rows [first, first + rows), at least one, chunk by chunk. Returns the number of threads.
  std::int64_t run_rows(BatchCall<Real> & call, Want want, std::int64_t first, std::int64_t rows,
                        const ChunkPlan::Cut & cut) const
  {
    const auto chunks = (rows + cut.rows - 1) / cut.rows;
    const auto threads = std::min(cut.threads, chunks);
    if (chunks == 1)
    {
      const Lease lease(_stock);
      run_chunk(call, want, first, rows, *lease);
      return threads;
    }
    std::vector<std::optional<Lease>> leases(threads);
    support::parallel_for(chunks, threads,
                          [&](std::int64_t task, std::int64_t worker)
                          {
                            if (!leases[worker])
                              leases[worker].emplace(_stock);
                            const auto skipped = task * cut.rows;
                            run_chunk(call, want, first + skipped, std::min(cut.rows, rows - skipped),
                                      **leases[worker]);
                          });
    return threads;
  }

  void run_chunk(BatchCall<Real> & call, Want want, std::int64_t first, std::int64_t rows,
                 ChunkWorkspace<Real> & w) const
  {
    const support::FloatingPointDefaults defaults;
    if (const auto done = in_place(want).run(call, first, rows, w); done > 0)
    {
      first += done;
      rows -= done;
      if (rows == 0)
        return;
    }
    const bool derivatives = needs_blocks(want);
    const auto & chain = this->chain(want);
    const auto ld = support::whole_blocks(rows);
    w.arena.reserve(std::max<std::int64_t>(chain.arena_size(derivatives), 1) * ld);
    call.read(first, rows, chain, w, ld);
    if (!call.history() && _guarded.run_sound(chain, w, ld, rows, derivatives))
      return call.write_sound(first, rows, chain, w, ld);
    _guarded.run(chain, w, ld, rows, derivatives);
    call.write(first, rows, chain, w, ld);
    if (_substeps.allowed(call.solvers()))
      call.write(first, _substeps.run(_chain, w, ld, rows, want), _substeps, want);
  }

  /// Blocks that are the same for all rows, without a batch axis, at their place among pairs(want); others are not
  /// defined. They depend on nothing that a call hands over, so they are computed once, from a row of zeros.
  const std::vector<at::Tensor> & constant_blocks(Want want, const void * const * weights) const
  {
    auto & constants = _constants[int(want)];
    if (std::none_of(pairs(want).begin(), pairs(want).end(),
                     [](const auto & pair) { return pair.batch_independent(); }))
      return constants.blocks;
    std::call_once(constants.once,
                   [&]
                   {
                     const Lease lease(_stock);
                     auto & w = *lease;
                     const support::FloatingPointDefaults defaults;
                     const auto & chain = this->chain(want);
                     constexpr std::int64_t ld = native::row_block;
                     Real * arena = w.arena.reserve(std::max<std::int64_t>(chain.arena_size(true), 1) * ld);
                     for (const auto & slot : chain.inputs())
                       std::fill_n(arena + slot.offset * ld, slot.size * ld, Real(0));
                     for (std::size_t k = 0; k < chain.parameters().size(); k++)
                       fill_lanes(_metadata.parameters[k].value.data(), _metadata.parameters[k],
                                  arena + chain.parameters()[k].offset * ld);
                     const auto solvers = _metadata.solvers();
                     w.solvers = &solvers;
                     w.weights = weights;
                     w.record = nullptr;
                     chain.run(w, ld, 1, true);
                     constants.blocks.clear();
                     for (std::size_t k = 0; k < pairs(want).size(); k++)
                     {
                       auto & tensor = constants.blocks.emplace_back();
                       const auto & pair = pairs(want)[k];
                       if (!pair.batch_independent())
                         continue;
                       tensor = at::empty(pair.shape(), at::TensorOptions().dtype(_dtype));
                       pair.copy(chain.derivatives()[k], arena, ld, 1,
                                 runtime::RowPlace<Real>{tensor.template mutable_data_ptr<Real>(), pair.size()});
                     }
                   });
    return constants.blocks;
  }

  const artifact::Metadata & _metadata;
  Chain<Real> _chain;
  Chain<Real> _parameter_chain;
  GuardedChain<Real> _guarded;
  /// By what is wanted
  std::vector<InPlace<Real>> _in_place;
  Substeps<Real> _substeps;
  at::ScalarType _dtype;
  ChunkPlan _plan;
  mutable std::array<std::atomic<float>, 3> _seconds_per_row{};
  std::vector<PairLayout> _pairs[3];
  struct Constants
  {
    std::once_flag once;
    std::vector<at::Tensor> blocks;
  };
  mutable Constants _constants[3];
  mutable WorkspaceStock<Real> _stock;
};
}

std::unique_ptr<Evaluator> make_evaluator(const artifact::Metadata & metadata, const Graphs & graphs,
                                          at::ScalarType dtype, const Chunking & chunking)
{
  if (dtype == at::kFloat)
    return std::make_unique<TypedEvaluator<float>>(metadata, graphs, dtype, chunking);
  return std::make_unique<TypedEvaluator<double>>(metadata, graphs, dtype, chunking);
}
}
