#include "aoti/Evaluator.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <numeric>
#include <optional>

#include <unistd.h>

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include "aoti/CompiledStep.h"
#include "aoti/Substeps.h"
#include "layout.h"
#include "matlaw/native/abi.h"
#include "support/FloatingPointDefaults.h"
#include "support/ThreadPool.h"

namespace matlaw::aoti
{
namespace
{
std::int64_t whole_blocks(std::int64_t rows)
{
  return (rows + native::row_block - 1) / native::row_block * native::row_block;
}

std::int64_t cache_bytes()
{
  const auto bytes = sysconf(_SC_LEVEL2_CACHE_SIZE); // 0 where the system does not tell
  return bytes > 0 ? bytes : std::int64_t(1) << 20;
}

/// Rows of a chunk whose arrays fill half the L2 cache; the other half is for tensors that stream through.
std::int64_t rows_that_fit(std::int64_t bytes_per_row, const Chunking & chunking)
{
  std::int64_t rows = cache_bytes() / 2 / std::max<std::int64_t>(bytes_per_row, 1);
  rows = std::clamp<std::int64_t>(rows, chunking.min_rows, 1024);
  if (chunking.max_rows > 0)
    rows = std::min(rows, chunking.max_rows);
  // An odd number of blocks: components then lie no power of two apart and spread over all sets of the cache.
  const auto blocks = std::max<std::int64_t>(rows / native::row_block, 1);
  return (blocks - (blocks % 2 == 0)) * native::row_block;
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
        _substeps(metadata, graphs),
        _dtype(dtype),
        _max_bytes(chunking.max_bytes)
  {
    for (const auto & [current, old] : metadata.times)
      _times.emplace_back(&find(metadata.inputs, current) - metadata.inputs.data(),
                          &find(metadata.inputs, old) - metadata.inputs.data());
    for (const auto & pair : metadata.derivatives)
      _pairs[int(Want::JACOBIAN)].push_back(
          {find(metadata.outputs, pair.output), find(metadata.inputs, pair.input), pair.batch_independent});
    for (const auto & pair : metadata.param_derivatives)
      _pairs[int(Want::PARAM_JACOBIAN)].push_back(
          {find(metadata.outputs, pair.output), find(metadata.parameters, pair.input), pair.batch_independent});
    for (const auto want : {Want::VALUES, Want::JACOBIAN, Want::PARAM_JACOBIAN})
    {
      const auto & chain = this->chain(want);
      const auto components = chain.arena_size(want != Want::VALUES) + chain.scratch_size();
      _bytes_per_row[int(want)] = std::int64_t(sizeof(Real)) * components;
      _chunk_rows[int(want)] = rows_that_fit(_bytes_per_row[int(want)], chunking);
    }
    const auto smallest = native::row_block * *std::max_element(std::begin(_bytes_per_row), std::end(_bytes_per_row));
    if (_max_bytes > 0 && _max_bytes < smallest)
      throw FatalError("LoadOptions.max_bytes is " + std::to_string(_max_bytes) + "; a call of model '" +
                       metadata.name + "' needs " + std::to_string(smallest) + " bytes for the smallest chunk, " +
                       std::to_string(native::row_block) + " rows with all derivatives.");
  }

  std::int64_t memory_per_call(std::int64_t threads) const override
  {
    std::int64_t most = 0;
    for (const auto want : {Want::VALUES, Want::JACOBIAN, Want::PARAM_JACOBIAN})
    {
      const auto cut = this->cut(want, threads);
      most = std::max(most, cut.threads * cut.rows * _bytes_per_row[int(want)]);
    }
    return most;
  }

  Evaluation evaluate(const Arguments & arguments, Want want, std::int64_t threads) const override
  {
    _substeps.require(want, arguments.solver);
    Call call(*this, arguments, want);
    const auto cut = this->cut(want, threads);
    threads = cut.threads;
    // Smaller chunks when there are not enough for all threads, as long as each has some work.
    auto chunk = cut.rows;
    const auto share = whole_blocks((call.rows + threads - 1) / threads);
    chunk = std::min(chunk, std::max<std::int64_t>(share, std::min<std::int64_t>(chunk, 64)));
    const auto chunks = (call.rows + chunk - 1) / chunk;
    threads = std::min(threads, chunks);
    if (chunks == 1)
    {
      const Lease lease(*this);
      run_chunk(call, 0, call.rows, *lease.workspace);
    }
    else if (chunks > 1)
    {
      std::vector<std::unique_ptr<Lease>> leases(threads);
      support::parallel_for(chunks, threads,
                            [&](std::int64_t task, std::int64_t worker)
                            {
                              if (!leases[worker])
                                leases[worker] = std::make_unique<Lease>(*this);
                              const auto first = task * chunk;
                              run_chunk(call, first, std::min(chunk, call.rows - first), *leases[worker]->workspace);
                            });
    }
    return call.finish();
  }

  PointVerdict evaluate_point(const std::vector<at::Tensor> & parameters, const solve::NewtonConfig & solver,
                              const double * inputs, double * outputs, double * jacobian) const override
  {
    const support::FloatingPointDefaults defaults;
    const Lease lease(*this);
    auto & w = *lease.workspace;
    w.solver = solver;
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
    _substeps.require(want, solver);
    run_rows(_chain, w, ld, 1, jacobian);
    PointVerdict verdict{w.status[0], w.iterations[0], w.dt_factor[0], w.residual[0], w.status[0] == Status::CONVERGED};
    SubsteppedRows<Real> taken;
    if (_substeps.allowed(solver))
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
      const auto base = std::max<std::int64_t>(size_of(variable.base_shape), 1);
      const auto sub_batch = variable.size / base;
      for (std::int64_t i = 0; i < variable.size; i++)
        outputs[i] = converged ? double(slot[(i % base * sub_batch + i / base) * stride]) : nan;
      outputs += variable.size;
    }
    if (jacobian)
      for (std::size_t k = 0; k < _chain.derivatives().size(); k++)
      {
        const auto & block = _chain.derivatives()[k];
        const auto & pair = pairs(Want::JACOBIAN)[k];
        const auto p = pair.output->size, r = pair.input->size;
        const auto first = cut ? _substeps.first_entry(want, k) : 0;
        for (std::int64_t i = 0; i < p; i++)
          for (std::int64_t j = 0; j < r; j++)
            *jacobian++ = !converged ? nan
                          : cut      ? taken.derivatives[(first + i * taken.columns + j) * taken.ld]
                          : block.kind == Block::Kind::STORED ? arena[(block.offset + i * block.stride + j) * ld]
                          : block.kind == Block::Kind::IDENTITY && i == j ? 1.0
                                                                          : 0.0;
      }
    return verdict;
  }

private:
  using Workspace = ChunkWorkspace<Real>;

  /// How a call is cut: rows of a chunk, and chunks that run at once.
  struct Cut
  {
    std::int64_t rows;
    std::int64_t threads;
  };
  Cut cut(Want want, std::int64_t threads) const
  {
    const auto rows = _chunk_rows[int(want)];
    if (_max_bytes == 0)
      return {rows, threads};
    const auto affordable = _max_bytes / std::max<std::int64_t>(_bytes_per_row[int(want)], 1);
    threads = std::clamp<std::int64_t>(threads, 1, affordable / native::row_block);
    return {std::min(rows, affordable / threads / native::row_block * native::row_block), threads};
  }

  /// One value, (*sub_batch, *base), into all columns of a slot of one block of rows.
  template <typename From>
  static void fill_lanes(const From * value, const artifact::Variable & variable, Real * slot)
  {
    const auto base = std::max<std::int64_t>(size_of(variable.base_shape), 1);
    const auto sub_batch = variable.size / base;
    for (std::int64_t b = 0; b < base; b++)
      for (std::int64_t s = 0; s < sub_batch; s++, slot += native::row_block)
        std::fill_n(slot, native::row_block, Real(value[s * base + b]));
  }

  /// One call: where its rows are read from and written to.
  struct Call
  {
    Call(const TypedEvaluator & evaluator, const Arguments & arguments, Want want)
        : chain(evaluator.chain(want)),
          want(want),
          derivatives(want != Want::VALUES),
          solver(arguments.solver),
          rows(arguments.batch.rows())
    {
      const auto & metadata = evaluator._metadata;
      const auto & batch = arguments.batch.shape();
      readers.reserve(metadata.inputs.size() + metadata.parameters.size());
      for (std::size_t k = 0; k < metadata.inputs.size(); k++)
        readers.emplace_back(arguments.inputs[k], batch, metadata.inputs[k].sub_batch_shape,
                             metadata.inputs[k].base_shape);
      for (std::size_t k = 0; k < metadata.parameters.size(); k++)
        readers.emplace_back(arguments.parameters[k], batch, metadata.parameters[k].sub_batch_shape,
                             metadata.parameters[k].base_shape);

      const auto make = [&](std::vector<std::int64_t> shape, at::ScalarType dtype)
      {
        shape.insert(shape.begin(), batch.begin(), batch.end());
        return at::empty(shape, at::TensorOptions().dtype(dtype));
      };
      for (const auto & variable : metadata.outputs)
      {
        const auto tensor = make(variable.public_shape(), evaluator._dtype);
        outputs.push_back(tensor.template mutable_data_ptr<Real>());
        evaluation.outputs.emplace(variable.reported, tensor);
      }
      const auto & pairs = evaluator.pairs(want);
      for (std::size_t k = 0; k < pairs.size(); k++)
      {
        const auto & pair = pairs[k];
        const auto tensor =
            pair.batch_independent ? evaluator.constant_blocks(want)[k].clone() : make(pair.shape(), evaluator._dtype);
        blocks.push_back(pair.batch_independent ? nullptr : tensor.template mutable_data_ptr<Real>());
        block_sizes.push_back(pair.output->size * pair.input->size);
        evaluation.jacobian[pair.output->reported].insert_or_assign(pair.input->reported, tensor);
      }
      evaluation.status = make({}, at::kChar);
      evaluation.iterations = make({}, at::kInt);
      evaluation.substeps = make({}, at::kInt);
      evaluation.dt_factor = make({}, at::kDouble);
      evaluation.residual = make({}, at::kDouble);
      status = evaluation.status.template mutable_data_ptr<std::int8_t>();
      iterations = evaluation.iterations.template mutable_data_ptr<std::int32_t>();
      substeps = evaluation.substeps.template mutable_data_ptr<std::int32_t>();
      dt_factor = evaluation.dt_factor.template mutable_data_ptr<double>();
      residual = evaluation.residual.template mutable_data_ptr<double>();
      if (arguments.history)
        record.emplace(metadata, batch, arguments.solver.miters);
    }

    Evaluation finish()
    {
      for (std::int64_t row = 0; row < rows; row++)
        if (status[row] != std::int8_t(Status::CONVERGED))
          evaluation.failed_rows.push_back(row);
      if (record)
        record->move_into(evaluation);
      return std::move(evaluation);
    }

    const Chain<Real> & chain;
    Want want;
    bool derivatives;
    const solve::NewtonConfig & solver;
    std::int64_t rows;
    std::vector<runtime::RowReader<Real>> readers;
    /// A block that is the same for all rows is a null pointer here: it is known already.
    std::vector<Real *> outputs, blocks;
    std::vector<std::int64_t> block_sizes;
    std::int8_t * status;
    std::int32_t * iterations;
    std::int32_t * substeps;
    double * dt_factor;
    double * residual;
    std::optional<CallRecord> record;
    Evaluation evaluation;
  };

  /// A workspace out of the evaluator's stock, given back when the lease ends.
  struct Lease
  {
    explicit Lease(const TypedEvaluator & evaluator) : owner(evaluator)
    {
      const std::lock_guard lock(owner._mutex);
      if (owner._stock.empty())
        workspace = std::make_unique<Workspace>();
      else
      {
        workspace = std::move(owner._stock.back());
        owner._stock.pop_back();
      }
    }
    ~Lease()
    {
      const std::lock_guard lock(owner._mutex);
      owner._stock.push_back(std::move(workspace));
    }
    Lease(const Lease &) = delete;
    Lease & operator=(const Lease &) = delete;
    const TypedEvaluator & owner;
    std::unique_ptr<Workspace> workspace;
  };

  /// The chain that a call runs. Where values and parameters are in the arena is the same in both.
  const Chain<Real> & chain(Want want) const { return want == Want::PARAM_JACOBIAN ? _parameter_chain : _chain; }

  /// A derivative that was compiled.
  struct TypedPair
  {
    TypedPair(const artifact::Variable & out, const artifact::Variable & in, bool constant)
        : output(&out),
          input(&in),
          batch_independent(constant),
          rows(positions(out)),
          columns(positions(in))
    {
    }
    /// Of a block, without the batch.
    std::vector<std::int64_t> shape() const
    {
      auto shape = output->public_shape();
      const auto by = input->public_shape();
      shape.insert(shape.end(), by.begin(), by.end());
      return shape;
    }
    static std::vector<std::int64_t> positions(const artifact::Variable & variable)
    {
      return runtime::public_positions(size_of(variable.sub_batch_shape), size_of(variable.base_shape));
    }
    const artifact::Variable * output;
    const artifact::Variable * input;
    bool batch_independent;
    /// Where each row and column of a block in the arena stands in the caller's.
    std::vector<std::int64_t> rows, columns;
  };
  const std::vector<TypedPair> & pairs(Want want) const { return _pairs[int(want)]; }

  /// Blocks that are the same for all rows, without a batch axis, at their place among pairs(want); others are not
  /// defined. They depend on nothing that a call hands over, so they are computed once, from a row of zeros.
  const std::vector<at::Tensor> & constant_blocks(Want want) const
  {
    auto & constants = _constants[int(want)];
    std::call_once(constants.once,
                   [&]
                   {
                     const Lease lease(*this);
                     auto & w = *lease.workspace;
                     const support::FloatingPointDefaults defaults;
                     const auto & chain = this->chain(want);
                     constexpr std::int64_t ld = native::row_block;
                     Real * arena = w.arena.reserve(std::max<std::int64_t>(chain.arena_size(true), 1) * ld);
                     for (const auto & slot : chain.inputs())
                       std::fill_n(arena + slot.offset * ld, slot.size * ld, Real(0));
                     for (std::size_t k = 0; k < chain.parameters().size(); k++)
                       for (std::int64_t c = 0; c < chain.parameters()[k].size; c++)
                         std::fill_n(arena + (chain.parameters()[k].offset + c) * ld, ld,
                                     Real(_metadata.parameters[k].value[c]));
                     w.solver = _metadata.solver;
                     w.record = nullptr;
                     chain.run(w, ld, 1, true);
                     constants.blocks.clear();
                     for (std::size_t k = 0; k < pairs(want).size(); k++)
                     {
                       auto & tensor = constants.blocks.emplace_back();
                       const auto & pair = pairs(want)[k];
                       if (!pair.batch_independent)
                         continue;
                       tensor = at::empty(pair.shape(), at::TensorOptions().dtype(_dtype));
                       copy_block(chain.derivatives()[k], pair, tensor.template mutable_data_ptr<Real>(), 1, arena, ld);
                     }
                   });
    return constants.blocks;
  }

  template <typename List>
  static const artifact::Variable & find(const List & list, const std::string & name)
  {
    return *std::find_if(list.begin(), list.end(), [&](const auto & variable) { return variable.name == name; });
  }

  /// Rows with a non-finite input or parameter; empty when there are none.
  std::vector<std::uint8_t> bad_rows(Workspace & w, std::int64_t ld, std::int64_t rows) const
  {
    const Real * arena = w.arena.data();
    std::vector<std::uint8_t> bad;
    // One pass that only adds: a sum of x - x is NaN where any x is not finite.
    for (const auto * slots : {&_chain.inputs(), &_chain.parameters()})
      for (const auto & slot : *slots)
      {
        const Real * values = arena + slot.offset * ld;
        Real sum = 0;
        for (std::int64_t i = 0; i < slot.size * ld; i++)
          sum += values[i] - values[i];
        if (sum == 0)
          continue;
        bad.resize(rows, 0);
        for (std::int64_t c = 0; c < slot.size; c++)
          for (std::int64_t i = 0; i < rows; i++)
            bad[i] |= !(values[c * ld + i] - values[c * ld + i] == 0);
      }
    return bad;
  }

  /// Puts a sound row in the place of each bad one, so that graphs and Newton never see it. False when there is none.
  bool replace_bad_rows(Workspace & w, std::int64_t ld, std::int64_t rows, const std::vector<std::uint8_t> & bad) const
  {
    const auto sound = std::find(bad.begin(), bad.end(), 0) - bad.begin();
    if (sound == rows)
      return false;
    for (const auto * slots : {&_chain.inputs(), &_chain.parameters()})
      for (const auto & slot : *slots)
        for (std::int64_t c = 0; c < slot.size; c++)
        {
          Real * component = w.arena.data() + (slot.offset + c) * ld;
          for (std::int64_t i = 0; i < rows; i++)
            component[i] = bad[i] ? component[sound] : component[i];
          std::fill(component + rows, component + ld, component[rows - 1]);
        }
    return true;
  }

  /// The law for rows that are in the arena, with a verdict on each.
  void run_rows(const Chain<Real> & chain, Workspace & w, std::int64_t ld, std::int64_t rows, bool derivatives) const
  {
    const auto bad = bad_rows(w, ld, rows);
    if (bad.empty() || replace_bad_rows(w, ld, rows, bad))
      chain.run(w, ld, rows, derivatives);
    else
    {
      w.status.assign(rows, Status::BAD_INPUT);
      w.iterations.assign(rows, 0);
      w.residual.assign(rows, 0.0);
      w.dt_factor.assign(rows, 0.5);
    }
    for (std::size_t i = 0; i < bad.size(); i++)
      if (bad[i])
      {
        w.status[i] = Status::BAD_INPUT;
        w.iterations[i] = 0;
        w.residual[i] = std::numeric_limits<double>::quiet_NaN();
        w.dt_factor[i] = 0.5;
        if (w.record)
          w.record->overrule(w.record_rows[i], Reason::INPUT_NOT_FINITE, -1);
      }
    fail_non_finite(_chain, w, ld, rows);
    blame_time(w, ld, rows);
  }

  void run_chunk(Call & call, std::int64_t first, std::int64_t rows, Workspace & w) const
  {
    const support::FloatingPointDefaults defaults;
    w.solver = call.solver;
    w.record = call.record ? &*call.record : nullptr;
    if (w.record)
    {
      w.record_rows.resize(rows);
      std::iota(w.record_rows.begin(), w.record_rows.end(), first);
    }
    const auto ld = whole_blocks(rows);
    Real * arena = w.arena.reserve(std::max<std::int64_t>(call.chain.arena_size(call.derivatives), 1) * ld);
    std::size_t reader = 0;
    for (const auto * slots : {&_chain.inputs(), &_chain.parameters()})
      for (const auto & slot : *slots)
      {
        call.readers[reader++].read(first, rows, arena + slot.offset * ld, ld);
        runtime::pad_rows(arena + slot.offset * ld, slot.size, rows, ld);
      }

    run_rows(call.chain, w, ld, rows, call.derivatives);

    for (std::size_t k = 0; k < call.outputs.size(); k++)
      writer(call, k).write(first, rows, arena + _chain.outputs()[k].offset * ld, ld);
    for (std::size_t k = 0; k < call.blocks.size(); k++)
      if (call.blocks[k])
        copy_block(call.chain.derivatives()[k], pairs(call.want)[k], call.blocks[k] + first * call.block_sizes[k], rows,
                   arena, ld);
    for (std::int64_t i = 0; i < rows; i++)
    {
      call.status[first + i] = std::int8_t(w.status[i]);
      call.iterations[first + i] = w.iterations[i];
      call.substeps[first + i] = w.status[i] == Status::CONVERGED;
      call.dt_factor[first + i] = w.dt_factor[i];
      call.residual[first + i] = w.residual[i];
      if (w.status[i] != Status::CONVERGED)
        blank_row(call, first + i);
    }
    if (_substeps.allowed(call.solver))
      take_substeps(call, first, rows, w, ld);
  }

  /// A row that failed while its time does not advance: no smaller step will do.
  void blame_time(Workspace & w, std::int64_t ld, std::int64_t rows) const
  {
    if (std::find(w.status.begin(), w.status.end(), Status::NOT_CONVERGED) == w.status.end())
      return;
    for (const auto & [current, old] : _times)
    {
      const auto & slot = _chain.inputs()[current];
      const Real * now = w.arena.data() + slot.offset * ld;
      const Real * before = w.arena.data() + _chain.inputs()[old].offset * ld;
      for (std::int64_t c = 0; c < slot.size; c++)
        for (std::int64_t i = 0; i < rows; i++)
          if (w.status[i] == Status::NOT_CONVERGED && now[c * ld + i] <= before[c * ld + i])
          {
            w.status[i] = Status::BAD_INPUT;
            if (w.record)
              w.record->overrule(w.record_rows[i], Reason::TIME_DOES_NOT_ADVANCE, std::int64_t(current));
          }
    }
  }

  /// Lets the rows of a chunk that did not converge try again in substeps.
  void take_substeps(Call & call, std::int64_t first, std::int64_t rows, Workspace & w, std::int64_t ld) const
  {
    const auto taken = _substeps.run(_chain, w, ld, rows, call.want);
    for (std::size_t p = 0; p < taken.rows.size(); p++)
    {
      const auto row = first + taken.rows[p];
      const auto & verdict = taken.verdicts[p];
      call.status[row] = std::int8_t(verdict.status);
      call.substeps[row] = verdict.substeps;
      call.iterations[row] += verdict.iterations;
      call.residual[row] = verdict.residual;
      call.dt_factor[row] = verdict.dt_factor;
      if (verdict.status != Status::CONVERGED)
        continue;
      const Real * output = taken.outputs.data() + p;
      for (std::size_t k = 0; k < call.outputs.size(); k++)
      {
        writer(call, k).write(row, 1, output, taken.ld);
        output += _metadata.outputs[k].size * taken.ld;
      }
      for (std::size_t k = 0; k < call.blocks.size(); k++)
        if (call.blocks[k])
          write_block(call, k, row, taken.derivatives.data() + _substeps.first_entry(call.want, k) * taken.ld + p,
                      taken.columns, taken.ld);
    }
  }

  /// Writes one row of a derivative, of which entry (i, j) is at from[(i * columns + j) * ld].
  void write_block(Call & call, std::size_t k, std::int64_t row, const Real * from, std::int64_t columns,
                   std::int64_t ld) const
  {
    const auto & pair = pairs(call.want)[k];
    const auto p = pair.output->size, r = pair.input->size;
    Real * to = call.blocks[k] + row * p * r;
    for (std::int64_t i = 0; i < p; i++)
      for (std::int64_t j = 0; j < r; j++)
        to[pair.rows[i] * r + pair.columns[j]] = from[(i * columns + j) * ld];
  }

  runtime::RowWriter<Real> writer(Call & call, std::size_t k) const
  {
    const auto & variable = _metadata.outputs[k];
    const auto base = size_of(variable.base_shape);
    return {call.outputs[k], variable.size / std::max<std::int64_t>(base, 1), base};
  }

  /// Copies a derivative of `rows` rows from the arena to (rows, *pair.shape()).
  static void copy_block(const Block & block, const TypedPair & pair, Real * to, std::int64_t rows, const Real * arena,
                         std::int64_t ld)
  {
    const auto p = pair.output->size, r = pair.input->size;
    if (block.kind != Block::Kind::STORED)
    {
      std::fill_n(to, rows * p * r, Real(0));
      if (block.kind == Block::Kind::IDENTITY)
        for (std::int64_t i = 0; i < rows; i++)
          for (std::int64_t j = 0; j < p; j++)
            to[(i * p + j) * r + j] = Real(1);
      return;
    }
    constexpr std::int64_t tile = 8;
    for (std::int64_t row = 0; row < rows; row += tile)
    {
      const auto height = std::min(tile, rows - row);
      for (std::int64_t i = 0; i < p; i++)
        for (std::int64_t j = 0; j < r; j++)
        {
          const Real * from = arena + (block.offset + i * block.stride + j) * ld + row;
          Real * place = to + row * p * r + pair.rows[i] * r + pair.columns[j];
          for (std::int64_t h = 0; h < height; h++)
            place[h * p * r] = from[h];
        }
    }
  }

  void blank_row(Call & call, std::int64_t row) const
  {
    constexpr auto nan = std::numeric_limits<Real>::quiet_NaN();
    for (std::size_t k = 0; k < call.outputs.size(); k++)
      std::fill_n(call.outputs[k] + row * _metadata.outputs[k].size, _metadata.outputs[k].size, nan);
    for (std::size_t k = 0; k < call.blocks.size(); k++)
    {
      if (!call.blocks[k])
        continue;
      std::fill_n(call.blocks[k] + row * call.block_sizes[k], call.block_sizes[k], nan);
    }
  }

  static std::int64_t size_of(const std::vector<std::int64_t> & shape)
  {
    std::int64_t size = 1;
    for (const auto n : shape)
      size *= n;
    return size;
  }

  const artifact::Metadata & _metadata;
  Chain<Real> _chain;
  Chain<Real> _parameter_chain;
  Substeps<Real> _substeps;
  at::ScalarType _dtype;
  std::int64_t _max_bytes;
  std::int64_t _bytes_per_row[3];
  std::int64_t _chunk_rows[3];
  std::vector<TypedPair> _pairs[3];
  /// Positions among the inputs: time and its old value
  std::vector<std::pair<std::size_t, std::size_t>> _times;
  struct Constants
  {
    std::once_flag once;
    std::vector<at::Tensor> blocks;
  };
  mutable Constants _constants[3];
  mutable std::mutex _mutex;
  mutable std::vector<std::unique_ptr<Workspace>> _stock;
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
