#include "aoti/FailingCall.h"

#include <algorithm>
#include <cmath>

#include <ATen/core/Tensor.h>
#include <ATen/ops/isfinite.h>

#include "diagnosis/take_rows.h"
#include "diagnosis/tolerances.h"

namespace matlaw::aoti
{
namespace
{
/// Of the segment's solve, in which a row took as many steps as there are entries of `step`.
void read_history(const SegmentHistory & history, std::int64_t at, FailedRow & row)
{
  const auto step = history.step[at].contiguous(), residual = history.residual[at].contiguous();
  for (std::int64_t k = 0; k < step.numel() && !std::isnan(step.const_data_ptr<double>()[k]); k++)
    row.steps.push_back(step.const_data_ptr<double>()[k]);
  const auto * norms = residual.const_data_ptr<double>();
  row.residuals.assign(norms, norms + row.steps.size() + 1);
  row.iterations = std::int32_t(row.steps.size());
}

/// Nothing for a law that has one implicit update only.
std::string name_of_update(const artifact::Metadata & metadata, std::size_t number)
{
  std::vector<std::string> names;
  for (const auto & segment : metadata.segments)
    if (segment.implicit)
      names.push_back(segment.update);
  return names.size() > 1 ? names.at(number) : "";
}

std::string name_of_place(const artifact::Metadata & metadata, const FailedRow & row)
{
  const auto place = std::size_t(std::max(row.place, 0));
  const auto inputs = metadata.inputs.size();
  switch (row.reason)
  {
  case Reason::OUTPUT_NOT_FINITE:
    return metadata.outputs[place].reported;
  case Reason::INPUT_NOT_FINITE:
  case Reason::TIME_DOES_NOT_ADVANCE:
    if (place >= inputs + metadata.parameters.size())
      return "an input";
    return place < inputs ? metadata.inputs[place].reported : metadata.parameters[place - inputs].reported;
  default:
    return diagnosis::failed_in_solve(row) ? name_of_update(metadata, place) : "";
  }
}
}

FailingCall::FailingCall(const artifact::Metadata & metadata, const Arguments & arguments, Want want,
                         const Evaluation & evaluation)
    : _want(want)
{
  _failure.model = metadata.name;
  _failure.n_rows = arguments.batch.rows();
  _failure.failed_rows = evaluation.failed_rows;
  const auto count = std::min<std::int64_t>(std::int64_t(evaluation.failed_rows.size()), Failure::max_rows);
  const std::vector<std::int64_t> rows(evaluation.failed_rows.begin(), evaluation.failed_rows.begin() + count);
  const auto status = evaluation.status.reshape({-1}).to(at::kCPU).contiguous();
  for (const auto row : rows)
  {
    auto & failed = _failure.rows.emplace_back();
    failed.row = row;
    failed.status = Status(status.const_data_ptr<std::int8_t>()[row]);
  }

  _arguments.solvers = arguments.solvers;
  _arguments.weights = arguments.weights;
  _arguments.history = true;
  _arguments.batch.join("", {count});
  const auto & batch = arguments.batch.shape();
  for (std::size_t k = 0; k < metadata.inputs.size(); k++)
  {
    const auto & variable = metadata.inputs[k];
    const auto trailing = variable.public_shape();
    _arguments.inputs.push_back(diagnosis::take_rows(arguments.inputs[k], batch, trailing, rows));
    _failure.inputs[variable.reported] = _arguments.inputs.back();
    _failure.typical[variable.reported] = diagnosis::median_norm(arguments.inputs[k], batch, trailing);
  }
  for (std::size_t k = 0; k < metadata.parameters.size(); k++)
  {
    const auto & parameter = metadata.parameters[k];
    const auto trailing = parameter.public_shape();
    const auto & value = arguments.parameters[k];
    _arguments.parameters.push_back(std::size_t(value.dim()) > trailing.size()
                                        ? diagnosis::take_rows(value, batch, trailing, rows)
                                        : value.clone());
    _failure.parameters[parameter.reported] = _arguments.parameters.back();
  }
}

std::int32_t FailingCall::not_finite(std::size_t row) const
{
  std::int32_t place = 0;
  for (const auto & value : _arguments.inputs)
    if (at::isfinite(value.select(0, std::int64_t(row))).all().item<bool>())
      place++;
    else
      return place;
  for (const auto & value : _arguments.parameters)
    if (at::isfinite(value).all().item<bool>())
      place++;
    else
      break;
  return place;
}

bool FailingCall::fits(const Evaluation & evaluation) const
{
  return _failure.n_rows == evaluation.status.numel() && _failure.failed_rows == evaluation.failed_rows;
}

const Failure & FailingCall::look_into(const artifact::Metadata & metadata, const Evaluator & evaluator) const
{
  std::call_once(_once,
                 [&]
                 {
                   const auto again = evaluator.evaluate(_arguments, _want, 1);
                   for (std::size_t i = 0; i < _failure.rows.size(); i++)
                   {
                     auto & row = _failure.rows[i];
                     const auto at = std::int64_t(i);
                     row.reason = Reason(again.reason.const_data_ptr<std::int8_t>()[at]);
                     row.place = again.place.const_data_ptr<std::int32_t>()[at];
                     row.iterations = again.iterations.const_data_ptr<std::int32_t>()[at];
                     if (row.status == Status::BAD_INPUT && row.reason != Reason::TIME_DOES_NOT_ADVANCE)
                       row.place = not_finite(i);
                     if (diagnosis::failed_in_solve(row))
                       read_history(again.history[std::size_t(row.place)], at, row);
                     row.text = reason_text(row, diagnosis::iteration_limit(row, _arguments.solvers),
                                            name_of_place(metadata, row));
                   }
                   diagnosis::set_tolerances(_failure, _arguments.solvers);
                 });
  return _failure;
}
}
