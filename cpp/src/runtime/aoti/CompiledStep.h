// One substep of a compiled law.
#pragma once

#include <cstdint>
#include <vector>

#include "aoti/Chain.h"
#include "matlaw/solve/Substepping.h"

namespace matlaw::aoti
{
/// Runs the chain over some rows of a chunk.
template <typename Real>
class CompiledStep final : public solve::LawStep<Real>
{
public:
  /// `chain`: one that carries derivatives if `columns` > 0. `parameters`: of all rows of the whole, (size, ld). `w` is
  /// for the chain alone, with the settings of the solver in place. `record_rows`: rows of the record that the whole's
  /// are, of use with a record.
  CompiledStep(const Chain<Real> & chain, std::int64_t columns, const Real * parameters, std::int64_t ld,
               ChunkWorkspace<Real> & w, const std::vector<std::int64_t> & record_rows)
      : _chain(chain),
        _columns(columns),
        _parameters(parameters),
        _ld(ld),
        _w(w),
        _record_rows(record_rows)
  {
  }

  void run(const std::vector<std::int32_t> & rows, std::int64_t ld, const Real * inputs, const Real * input_derivatives,
           Real * outputs, Real * output_derivatives, solve::RowVerdict * verdicts) override;

private:
  void read_derivatives(std::int64_t ld, Real * to) const;

  const Chain<Real> & _chain;
  std::int64_t _columns;
  const Real * _parameters;
  std::int64_t _ld;
  ChunkWorkspace<Real> & _w;
  const std::vector<std::int64_t> & _record_rows;
};

/// Outputs that are not finite make their row NOT_CONVERGED, whatever the solves say.
template <typename Real>
void fail_non_finite(const Chain<Real> & chain, ChunkWorkspace<Real> & w, std::int64_t ld, std::int64_t rows);

extern template class CompiledStep<double>;
extern template class CompiledStep<float>;
extern template void fail_non_finite<double>(const Chain<double> &, ChunkWorkspace<double> &, std::int64_t,
                                             std::int64_t);
extern template void fail_non_finite<float>(const Chain<float> &, ChunkWorkspace<float> &, std::int64_t, std::int64_t);
}
