#include "aoti/BatchCall.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include <ATen/EmptyTensor.h>
#include <ATen/core/Tensor.h>

#include "support/rows.h"

namespace matlaw::aoti
{
template <typename Real>
BatchCall<Real>::BatchCall(const artifact::Metadata & metadata, const Arguments & arguments, at::ScalarType dtype,
                           const std::vector<PairLayout> & pairs, const std::vector<at::Tensor> & constants,
                           std::optional<std::int64_t> block_rows)
    : _metadata(metadata),
      _arguments(arguments),
      _pairs(pairs),
      _rows(arguments.batch.rows())
{
  const auto & batch = arguments.batch.shape();
  _readers.reserve(metadata.inputs.size() + metadata.parameters.size());
  for (std::size_t k = 0; k < metadata.inputs.size(); k++)
    _readers.emplace_back(arguments.inputs[k], batch, metadata.inputs[k].sub_batch_shape,
                          metadata.inputs[k].base_shape);
  for (std::size_t k = 0; k < metadata.parameters.size(); k++)
    _readers.emplace_back(arguments.parameters[k], batch, metadata.parameters[k].sub_batch_shape,
                          metadata.parameters[k].base_shape);

  // Without the dispatcher, and in axes that need no memory of their own: most of a call with one row goes into
  // tensors.
  const auto make_for =
      [](at::IntArrayRef rows, at::IntArrayRef sites, at::IntArrayRef base, at::ScalarType type, bool batch_last)
  {
    at::DimVector shape(rows.begin(), rows.end());
    shape.append(sites.begin(), sites.end());
    shape.append(base.begin(), base.end());
    if (!batch_last)
      return at::Tensor(at::detail::empty_cpu(shape, type));
    at::DimVector strides(shape.size());
    std::int64_t stride = 1;
    for (std::size_t k = 0; k < shape.size(); k++)
    {
      // Innermost first: the batch axes, then the others.
      const auto axis = k < rows.size() ? rows.size() - 1 - k : shape.size() - 1 - (k - rows.size());
      strides[axis] = stride;
      stride *= shape[axis];
    }
    return at::Tensor(at::detail::empty_strided_cpu(shape, strides, type));
  };
  const auto place_of = [](const at::Tensor & tensor, std::int64_t rows, std::int64_t size, bool batch_last)
  {
    auto * data = tensor.template mutable_data_ptr<Real>();
    return batch_last ? runtime::RowPlace<Real>{data, 1, rows} : runtime::RowPlace<Real>{data, size, 1};
  };
  const auto make = [&](at::ScalarType type) { return make_for(batch, {}, {}, type, false); };
  const auto batch_last = batch_last_inputs();
  for (const auto & variable : metadata.outputs)
  {
    const auto tensor = make_for(batch, variable.sub_batch_shape, variable.base_shape, dtype, batch_last);
    _outputs.push_back(place_of(tensor, _rows, variable.size, batch_last));
    _evaluation.outputs.emplace(variable.reported, tensor);
  }
  const auto rows_of_blocks = block_rows ? std::vector<std::int64_t>{*block_rows} : batch;
  for (std::size_t k = 0; k < pairs.size(); k++)
  {
    const auto & pair = pairs[k];
    const bool apart = batch_last && !block_rows;
    const auto tensor =
        pair.batch_independent() ? constants[k].clone() : make_for(rows_of_blocks, pair.shape(), {}, dtype, apart);
    _blocks.push_back(pair.batch_independent() ? runtime::RowPlace<Real>{}
                                               : place_of(tensor, _rows, pair.size(), apart));
    _evaluation.jacobian[pair.output().reported].insert_or_assign(pair.input().reported, tensor);
  }
  _evaluation.weights_version = _arguments.weights ? _arguments.weights->version : 0;
  _evaluation.status = make(at::kChar);
  _evaluation.iterations = make(at::kInt);
  _evaluation.substeps = make(at::kInt);
  _evaluation.dt_factor = make(at::kDouble);
  _evaluation.residual = make(at::kDouble);
  _status = _evaluation.status.template mutable_data_ptr<std::int8_t>();
  _iterations = _evaluation.iterations.template mutable_data_ptr<std::int32_t>();
  _substeps = _evaluation.substeps.template mutable_data_ptr<std::int32_t>();
  _dt_factor = _evaluation.dt_factor.template mutable_data_ptr<double>();
  _residual = _evaluation.residual.template mutable_data_ptr<double>();
  if (arguments.history)
    _record.emplace(metadata, batch, arguments.solvers);
}

template <typename Real>
void BatchCall<Real>::read(std::int64_t first, std::int64_t rows, const Chain<Real> & chain, ChunkWorkspace<Real> & w,
                           std::int64_t ld)
{
  w.solvers = &_arguments.solvers;
  w.weights = _arguments.weights ? _arguments.weights->pointers.data() : nullptr;
  w.record = _record ? &*_record : nullptr;
  if (w.record)
  {
    w.record_rows.resize(rows);
    std::iota(w.record_rows.begin(), w.record_rows.end(), first);
  }
  Real * arena = w.arena.data();
  std::size_t reader = 0;
  for (const auto * slots : {&chain.inputs(), &chain.parameters()})
    for (const auto & slot : *slots)
    {
      _readers[reader++].read(first, rows, arena + slot.offset * ld, ld);
      support::pad_rows(arena + slot.offset * ld, slot.size, ld, rows);
    }
}

template <typename Real>
void BatchCall<Real>::keep_sound(std::int64_t first, std::int64_t rows)
{
  std::fill_n(_status + first, rows, std::int8_t(Status::CONVERGED));
  std::fill_n(_substeps + first, rows, 1);
  std::fill_n(_iterations + first, rows, 0);
  std::fill_n(_dt_factor + first, rows, 1.0);
  std::fill_n(_residual + first, rows, 0.0);
}

template <typename Real>
void BatchCall<Real>::write_results(std::int64_t first, std::int64_t rows, const Chain<Real> & chain,
                                    const ChunkWorkspace<Real> & w, std::int64_t ld)
{
  const Real * arena = w.arena.data();
  for (std::size_t k = 0; k < _outputs.size(); k++)
    writer(k).write(first, rows, arena + chain.outputs()[k].offset * ld, ld);
  for (std::size_t k = 0; k < _blocks.size(); k++)
    if (_blocks[k].data)
      _pairs[k].copy(chain.derivatives()[k], arena, ld, rows, block(k, first));
}

template <typename Real>
void BatchCall<Real>::write_sound(std::int64_t first, std::int64_t rows, const Chain<Real> & chain,
                                  const ChunkWorkspace<Real> & w, std::int64_t ld)
{
  write_results(first, rows, chain, w, ld);
  keep_sound(first, rows);
}

template <typename Real>
void BatchCall<Real>::write(std::int64_t first, std::int64_t rows, const Chain<Real> & chain,
                            const ChunkWorkspace<Real> & w, std::int64_t ld)
{
  write_results(first, rows, chain, w, ld);
  std::copy_n(w.iterations.begin(), rows, _iterations + first);
  std::copy_n(w.dt_factor.begin(), rows, _dt_factor + first);
  std::copy_n(w.residual.begin(), rows, _residual + first);
  // Plain pointers: bytes may be anything to the compiler, members too, and it would do one row at a time.
  const Status * const said = w.status.data();
  std::int8_t * const status = _status + first;
  std::int32_t * const substeps = _substeps + first;
  bool failed = false;
  for (std::int64_t i = 0; i < rows; i++)
  {
    const bool converged = said[i] == Status::CONVERGED;
    substeps[i] = converged;
    failed |= !converged;
  }
  if (!failed)
  {
    std::fill_n(status, rows, std::int8_t(Status::CONVERGED));
    return;
  }
  for (std::int64_t i = 0; i < rows; i++)
  {
    status[i] = std::int8_t(said[i]);
    if (said[i] != Status::CONVERGED)
      blank(first + i);
  }
}

template <typename Real>
void BatchCall<Real>::write(std::int64_t first_row, const SubsteppedRows<Real> & taken, const Substeps<Real> & substeps,
                            Want want)
{
  for (std::size_t p = 0; p < taken.rows.size(); p++)
  {
    const auto row = first_row + taken.rows[p];
    const auto & verdict = taken.verdicts[p];
    _status[row] = std::int8_t(verdict.status);
    _substeps[row] = verdict.substeps;
    _iterations[row] += verdict.iterations;
    _residual[row] = verdict.residual;
    _dt_factor[row] = verdict.dt_factor;
    if (verdict.status != Status::CONVERGED)
      continue;
    const Real * output = taken.outputs.data() + p;
    for (std::size_t k = 0; k < _outputs.size(); k++)
    {
      writer(k).write(row, 1, output, taken.ld);
      output += _metadata.outputs[k].size * taken.ld;
    }
    for (std::size_t k = 0; k < _blocks.size(); k++)
      if (_blocks[k].data)
        _pairs[k].copy_row(taken.derivatives.data() + substeps.first_entry(want, k) * taken.ld + p, taken.columns,
                           taken.ld, block(k, row));
  }
}

template <typename Real>
Evaluation BatchCall<Real>::finish()
{
  static_assert(std::int8_t(Status::CONVERGED) == 0);
  const auto failed = [](std::int8_t status) { return status != 0; };
  if (std::accumulate(_status, _status + _rows, 0, std::bit_or<int>()) != 0)
    for (auto at = std::find_if(_status, _status + _rows, failed); at != _status + _rows;
         at = std::find_if(at + 1, _status + _rows, failed))
      _evaluation.failed_rows.push_back(at - _status);
  if (_record)
    _record->move_into(_evaluation);
  return std::move(_evaluation);
}

template <typename Real>
bool BatchCall<Real>::batch_last_inputs() const
{
  const auto matters = [](const auto & reader) { return !reader.scalar() && !reader.same_for_all(); };
  return std::any_of(_readers.begin(), _readers.end(), matters) &&
         std::all_of(_readers.begin(), _readers.end(),
                     [&](const auto & reader) { return !matters(reader) || reader.batch_last(); });
}

template <typename Real>
runtime::RowWriter<Real> BatchCall<Real>::writer(std::size_t output) const
{
  const auto & variable = _metadata.outputs[output];
  const auto base = variable.base_size();
  return {_outputs[output], variable.size / std::max<std::int64_t>(base, 1), base};
}

template <typename Real>
void BatchCall<Real>::blank(std::int64_t row)
{
  constexpr auto nan = std::numeric_limits<Real>::quiet_NaN();
  for (std::size_t k = 0; k < _outputs.size(); k++)
    for (std::int64_t c = 0; c < _metadata.outputs[k].size; c++)
      _outputs[k].at(row, c) = nan;
  for (std::size_t k = 0; k < _blocks.size(); k++)
    for (std::int64_t c = 0; _blocks[k].data && c < _pairs[k].size(); c++)
      block(k, row).at(0, c) = nan;
}

template class BatchCall<double>;
template class BatchCall<float>;
}
