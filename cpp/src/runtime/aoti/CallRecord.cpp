#include "aoti/CallRecord.h"

#include <limits>

#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

namespace matlaw::aoti
{
CallRecord::CallRecord(const artifact::Metadata & metadata, const std::vector<std::int64_t> & batch,
                       const std::vector<solve::NewtonConfig> & solvers)
    : _reason(at::zeros(batch, at::kChar)),
      _place(at::full(batch, -1, at::kInt))
{
  const auto empty = [&](std::int64_t entries)
  {
    auto shape = batch;
    shape.push_back(entries);
    return at::full(shape, std::numeric_limits<double>::quiet_NaN(), at::kDouble);
  };
  for (const auto & segment : metadata.segments)
  {
    if (!segment.implicit)
      continue;
    const auto miters = solvers[_segments.size()].miters;
    auto & history = _segments.emplace_back();
    for (const auto & unknown : segment.unknowns)
      history.unknowns.push_back(unknown.name);
    history.residual = empty(miters + 1);
    history.step = empty(miters);
  }
}

void CallRecord::restart(const std::vector<std::int64_t> & rows)
{
  for (const auto row : rows)
    overrule(row, Reason::NONE, -1);
}

void CallRecord::fail(std::int64_t row, Reason reason, std::int64_t place)
{
  if (_reason.const_data_ptr<std::int8_t>()[row] == std::int8_t(Reason::NONE))
    overrule(row, reason, place);
}

void CallRecord::overrule(std::int64_t row, Reason reason, std::int64_t place)
{
  _reason.mutable_data_ptr<std::int8_t>()[row] = std::int8_t(reason);
  _place.mutable_data_ptr<std::int32_t>()[row] = std::int32_t(place);
}

void CallRecord::move_into(Evaluation & evaluation)
{
  evaluation.history = std::move(_segments);
  evaluation.reason = std::move(_reason);
  evaluation.place = std::move(_place);
}
}
