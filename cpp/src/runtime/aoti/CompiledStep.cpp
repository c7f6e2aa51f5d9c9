#include "aoti/CompiledStep.h"

#include <algorithm>

#include "solve/row_kernels.h"

namespace matlaw::aoti
{
template <typename Real>
void CompiledStep<Real>::run(const std::vector<std::int32_t> & rows, std::int64_t ld, const Real * inputs,
                             const Real * input_derivatives, Real * outputs, Real * output_derivatives,
                             solve::RowVerdict * verdicts)
{
  const auto count = std::int64_t(rows.size());
  const bool derivatives = _columns > 0;
  Real * arena = _w.arena.reserve(std::max<std::int64_t>(_chain.arena_size(derivatives), 1) * ld);
  for (const auto & slot : _chain.inputs())
  {
    std::copy_n(inputs, slot.size * ld, arena + slot.offset * ld);
    inputs += slot.size * ld;
  }
  const Real * parameter = _parameters;
  for (const auto & slot : _chain.parameters())
    for (std::int64_t c = 0; c < slot.size; c++, parameter += _ld)
    {
      Real * to = arena + (slot.offset + c) * ld;
      for (std::int64_t p = 0; p < count; p++)
        to[p] = parameter[rows[p]];
      std::fill(to + count, to + ld, to[count - 1]);
    }
  if (derivatives)
    for (const auto & slot : _chain.carried())
    {
      std::copy_n(input_derivatives, slot.size * ld, arena + slot.offset * ld);
      input_derivatives += slot.size * ld;
    }

  _w.record_rows.clear();
  for (std::int64_t p = 0; _w.record && p < count; p++)
    _w.record_rows.push_back(_record_rows[rows[p]]);
  _chain.run(_w, ld, count, derivatives);
  fail_non_finite(_chain, _w, ld, count);
  for (std::int64_t p = 0; p < count; p++)
    verdicts[p] = {_w.status[p], _w.iterations[p], 0.0, _w.residual[p], Reason::NONE};

  for (const auto & slot : _chain.outputs())
  {
    std::copy_n(arena + slot.offset * ld, slot.size * ld, outputs);
    outputs += slot.size * ld;
  }
  if (derivatives)
    read_derivatives(ld, output_derivatives);
}

template <typename Real>
void CompiledStep<Real>::read_derivatives(std::int64_t ld, Real * to) const
{
  const Real * arena = _w.arena.data();
  const auto seeds = _chain.derivatives().size() / std::max<std::size_t>(_chain.outputs().size(), 1);
  for (std::size_t k = 0; k < _chain.outputs().size(); k++)
  {
    const auto size = _chain.outputs()[k].size;
    std::int64_t column = 0;
    for (std::size_t s = 0; s < seeds; s++)
    {
      const auto & block = _chain.derivatives()[k * seeds + s];
      const auto width = _chain.seed_sizes()[s];
      for (std::int64_t i = 0; i < size; i++)
      {
        Real * row = to + (i * _columns + column) * ld;
        if (block.kind == Block::Kind::STORED)
          std::copy_n(arena + (block.offset + i * block.stride) * ld, width * ld, row);
        else
          std::fill_n(row, width * ld, Real(0));
      }
      column += width;
    }
    to += size * _columns * ld;
  }
}

template <typename Real>
void fail_non_finite(const Chain<Real> & chain, ChunkWorkspace<Real> & w, std::int64_t ld, std::int64_t rows)
{
  const Real * arena = w.arena.data();
  for (std::size_t k = 0; k < chain.outputs().size(); k++)
  {
    const auto & slot = chain.outputs()[k];
    const Real * values = arena + slot.offset * ld;
    if (solve::all_finite(values, slot.size * ld))
      continue;
    for (std::int64_t c = 0; c < slot.size; c++)
      for (std::int64_t i = 0; i < rows; i++)
        if (!(values[c * ld + i] - values[c * ld + i] == 0) && w.status[i] == Status::CONVERGED)
        {
          w.status[i] = Status::NOT_CONVERGED;
          w.dt_factor[i] = std::min(w.dt_factor[i], 0.25);
          if (w.record)
            w.record->fail(w.record_rows[i], Reason::OUTPUT_NOT_FINITE, std::int64_t(k));
        }
  }
}

template class CompiledStep<double>;
template class CompiledStep<float>;
template void fail_non_finite<double>(const Chain<double> &, ChunkWorkspace<double> &, std::int64_t, std::int64_t);
template void fail_non_finite<float>(const Chain<float> &, ChunkWorkspace<float> &, std::int64_t, std::int64_t);
}
