#include "FailedChunks.h"

#include <algorithm>
#include <utility>

#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>

namespace matlaw::dispatch
{
void FailedChunks::add(std::int64_t first, std::vector<std::int64_t> failed_rows,
                       std::function<std::shared_ptr<const Failure>()> tell)
{
  const std::lock_guard lock(_adding);
  _chunks[first] = {std::move(failed_rows), std::move(tell)};
}

void FailedChunks::close(std::int64_t rows, std::map<std::string, double> typical, std::set<std::string> per_row)
{
  _failure.n_rows = rows;
  _failure.typical = std::move(typical);
  _per_row = std::move(per_row);
  for (const auto & [first, failing] : _chunks)
    for (const auto row : failing.failed_rows)
      _failure.failed_rows.push_back(first + row);
}

bool FailedChunks::fits(const Evaluation & evaluation) const
{
  return _failure.n_rows == evaluation.status.numel() && _failure.failed_rows == evaluation.failed_rows;
}

const Failure & FailedChunks::look_into(const at::Device & device) const
{
  std::call_once(_once,
                 [&]
                 {
                   for (const auto & [first, failing] : _chunks)
                   {
                     if (std::int64_t(_failure.rows.size()) == Failure::max_rows)
                       break;
                     const auto part = failing.tell();
                     if (part && part->failed_rows == failing.failed_rows)
                       append(*part, first, device);
                   }
                 });
  return _failure;
}

/// Adds what a copy tells of the first failed rows of its chunk, as far as there is place.
void FailedChunks::append(const Failure & part, std::int64_t first, const at::Device & device) const
{
  const auto count =
      std::min<std::int64_t>(std::int64_t(part.rows.size()), Failure::max_rows - std::int64_t(_failure.rows.size()));
  for (std::int64_t i = 0; i < count; i++)
  {
    _failure.rows.push_back(part.rows[std::size_t(i)]);
    _failure.rows.back().row += first;
  }
  const auto join = [&](TensorMap & whole, const std::string & name, const at::Tensor & rows)
  {
    const auto here = rows.narrow(0, 0, count).to(device);
    auto & joined = whole[name];
    joined = joined.defined() ? at::cat({joined, here}) : here;
  };
  for (const auto & [name, value] : part.inputs)
    join(_failure.inputs, name, value);
  for (const auto & [name, value] : part.parameters)
    if (_per_row.count(name))
      join(_failure.parameters, name, value);
    else
      _failure.parameters.emplace(name, value.to(device));
  _failure.model = part.model;
  _failure.atol = part.atol;
  _failure.rtol = part.rtol;
  _failure.miters = part.miters;
  if (_failure.file.empty())
    _failure.file = part.file;
}
}
