// What is written down of a call whose caller wants to know what its solves did.
#pragma once

#include <cstdint>
#include <vector>

#include "artifact/Metadata.h"
#include "matlaw/Model.h"
#include "matlaw/Reason.h"
#include "matlaw/solve/NewtonConfig.h"
#include "matlaw/solve/Recorder.h"

namespace matlaw::aoti
{
/// Written by several threads at once, each for rows of its own.
class CallRecord
{
public:
  /// `batch`: shape of the call's rows; `solvers`: settings of the implicit segments
  CallRecord(const artifact::Metadata & metadata, const std::vector<std::int64_t> & batch,
             const std::vector<solve::NewtonConfig> & solvers);

  /// Rows start anew: in a substep, what was written of them is forgotten.
  void restart(const std::vector<std::int64_t> & rows);
  /// A row fails for this reason; what was said of it first holds. `place`: see FailedRow::place
  void fail(std::int64_t row, Reason reason, std::int64_t place);
  /// ... whatever was said before.
  void overrule(std::int64_t row, Reason reason, std::int64_t place);

  /// For the solve of the implicit segment number `segment`, of which row i is row rows[i] of the call.
  template <typename Real>
  solve::Recorder<Real> recorder(std::size_t segment, const std::vector<std::int64_t> & rows)
  {
    solve::Recorder<Real> recorder;
    recorder.rows = rows.data();
    recorder.miters = _segments[segment].step.size(-1);
    recorder.residual = _segments[segment].residual.template mutable_data_ptr<double>();
    recorder.step = _segments[segment].step.template mutable_data_ptr<double>();
    return recorder;
  }

  void move_into(Evaluation & evaluation);

private:
  std::vector<SegmentHistory> _segments;
  at::Tensor _reason, _place;
};
}
