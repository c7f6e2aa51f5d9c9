#include "diagnosis/bad_input.h"

#include <sstream>
#include <string>

#include <ATen/core/Tensor.h>
#include <ATen/ops/isfinite.h>

#include "diagnosis/take_rows.h"
#include "support/text.h"

namespace matlaw::diagnosis
{
namespace
{
/// Values of an input for some rows, (rows.size(), *sub_batch, *base); undefined when it is not there.
at::Tensor values_of(const Model & model, const TensorMap & inputs, const std::string & name,
                     const std::vector<std::int64_t> & batch, const std::vector<std::int64_t> & rows)
{
  for (std::size_t i = 0; i < model.input_names().size(); i++)
    if (model.input_names()[i] == name)
    {
      const auto found = inputs.find(name);
      if (found == inputs.end())
        return {};
      auto trailing = model.input_sub_batch_shapes()[i];
      trailing.insert(trailing.end(), model.input_base_shapes()[i].begin(), model.input_base_shapes()[i].end());
      return take_rows(found->second, batch, trailing, rows);
    }
  return {};
}

/// The first input of a row that is not finite; empty when there is none.
std::string not_finite(const Model & model, const TensorMap & inputs, const std::vector<std::int64_t> & batch,
                       std::int64_t row)
{
  for (const auto & name : model.input_names())
    if (const auto value = values_of(model, inputs, name, batch, {row});
        value.defined() && !at::isfinite(value).all().item<bool>())
      return name;
  return "";
}

void throw_if_time_stands_still(const Model & model, const TensorMap & inputs, const std::vector<std::int64_t> & batch,
                                std::int64_t row, const std::vector<std::int64_t> & rows)
{
  for (const auto & [current, old] : model.times())
  {
    const auto now = values_of(model, inputs, current, batch, {row}).reshape({-1}).to(at::kDouble);
    const auto before = values_of(model, inputs, old, batch, {row}).reshape({-1}).to(at::kDouble);
    const auto still = now.le(before).nonzero().reshape({-1});
    if (still.numel() == 0)
      continue;
    const auto first = still[0].item<std::int64_t>();
    throw InputError("Time does not advance in row " + std::to_string(row) + " of the flattened batch: '" + current +
                         "' is " + support::number_text(now[first].item<double>(), 17) + " and '" + old + "' is " +
                         support::number_text(before[first].item<double>(), 17) + ", and model '" + model.name() +
                         "' cannot be solved for such a step (rows with this: " + support::row_list(rows) +
                         "). A smaller time step does not help: pass a '" + current + "' that is after '" + old +
                         "'. A host that calls the law before its first step, to initialise it, should pass a step "
                         "of some length, or not call it.",
                     current, row);
  }
}
}

std::vector<std::int64_t> rows_with(Status status, const Evaluation & evaluation)
{
  const auto flat = evaluation.status.reshape({-1}).to(at::kCPU).contiguous();
  const auto * verdict = flat.const_data_ptr<std::int8_t>();
  std::vector<std::int64_t> rows;
  for (const auto row : evaluation.failed_rows)
    if (verdict[row] == std::int8_t(status))
      rows.push_back(row);
  return rows;
}

void throw_bad_input(const Model & model, const TensorMap & inputs, const Evaluation & evaluation,
                     const std::vector<std::int64_t> & rows)
{
  const auto batch = evaluation.status.sizes().vec();
  const auto row = rows.front();
  if (const auto name = not_finite(model, inputs, batch, row); !name.empty())
    throw InputError("Input '" + name + "' of model '" + model.name() + "' is NaN or infinite in row " +
                         std::to_string(row) +
                         " of the flattened batch (rows with wrong input: " + support::row_list(rows) +
                         "). A smaller time step does not help: look for where the host "
                         "computes '" +
                         name + "'.",
                     name, row);
  throw_if_time_stands_still(model, inputs, batch, row, rows);
  throw InputError("An input or parameter of model '" + model.name() + "' is NaN or infinite in row " +
                       std::to_string(row) + ".",
                   "", row);
}

void check_time_advances(const Model & model, const TensorMap & inputs, const Evaluation & evaluation)
{
  if (evaluation.ok() || model.times().empty())
    return;
  const auto rows = rows_with(Status::BAD_INPUT, evaluation);
  const auto batch = evaluation.status.sizes().vec();
  for (const auto row : rows)
    if (not_finite(model, inputs, batch, row).empty())
      throw_if_time_stands_still(model, inputs, batch, row, rows);
}
}
