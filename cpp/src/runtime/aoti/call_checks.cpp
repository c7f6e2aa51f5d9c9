#include "aoti/call_checks.h"

#include <algorithm>

#include <ATen/core/Tensor.h>
#include <ATen/ops/isfinite.h>

#include "support/text.h"

namespace matlaw::aoti
{
static std::string expected_text(const artifact::Variable & variable)
{
  std::string text = "(*B";
  for (const auto n : variable.public_shape())
    text += ", " + std::to_string(n);
  return text + ")";
}

/// How a tensor of another dtype is made to fit.
static std::string conversion(at::ScalarType given, at::ScalarType expected)
{
  if (expected == at::kLong)
    return ": its values are integers. Convert it: tensor.to(torch.int64).";
  if (at::isFloatingType(given))
    return ". Convert it, or compile the law with the other --dtype.";
  return std::string(": its values are floating. Convert it: tensor.to(torch.") +
         (expected == at::kFloat ? "float32" : "float64") + ").";
}

void check_tensor(const std::string & what, const artifact::Variable & variable, const at::Tensor & value,
                  at::ScalarType dtype, const at::Device & device)
{
  // Put together only for an error: a call with one row would spend a tenth of its time on words.
  const auto subject = [&] { return what + " '" + variable.reported + "' "; };
  if (!value.defined())
    throw FatalError(subject() + "is an undefined tensor.");
  // A device without an index is whichever of its kind is current.
  if (value.device().type() != device.type() ||
      (device.has_index() && value.device().has_index() && value.device() != device))
    throw FatalError(subject() + "is on device " + value.device().str() + ", the law is on " + device.str() +
                     ". Move it: tensor.to('" + device.str() + "').");
  if (value.layout() != at::kStrided)
    throw FatalError(subject() + "is not a dense tensor. Convert it: tensor.to_dense().");
  if (value.scalar_type() != dtype)
    throw FatalError(subject() + "has dtype " + at::toString(value.scalar_type()) + ", expected " +
                     at::toString(dtype) + conversion(value.scalar_type(), dtype));
  const auto sizes = value.sizes();
  const auto sites = variable.sub_batch_shape.size(), trailing = sites + variable.base_shape.size();
  bool fits = sizes.size() >= trailing;
  for (std::size_t i = 0; fits && i < trailing; i++)
  {
    const auto extent = sizes[sizes.size() - trailing + i];
    // A sub-batch axis of extent 1 stands for all sites.
    fits = i < sites ? extent == variable.sub_batch_shape[i] || extent == 1 : extent == variable.base_shape[i - sites];
  }
  if (!fits)
    throw FatalError(subject() + "has shape " + support::shape_text(sizes.vec()) + ", expected " +
                     expected_text(variable) + " for a variable of type " + variable.type + ".");
}

at::Tensor parameter_value(const std::string & model, const artifact::Variable & variable, const at::Tensor & value,
                           at::ScalarType dtype, const at::Device & device)
{
  const bool integers = dtype == at::kLong && value.defined() && at::isIntegralType(value.scalar_type(), false);
  check_tensor("Parameter", variable, value, integers ? value.scalar_type() : dtype, device);
  if (!at::isfinite(value).all().item<bool>())
    throw InputError("Parameter '" + variable.reported + "' of model '" + model + "' cannot be NaN or infinite.",
                     variable.reported, -1);
  return value.detach().to(dtype);
}

static at::IntArrayRef batch_axes(const artifact::Variable & variable, const at::Tensor & value)
{
  const auto trailing = variable.sub_batch_shape.size() + variable.base_shape.size();
  return value.sizes().slice(0, std::size_t(value.dim()) - trailing);
}

std::vector<std::int64_t> batch_shape(const artifact::Variable & variable, const at::Tensor & value)
{
  return batch_axes(variable, value).vec();
}

static std::int64_t rows_of(const std::vector<std::int64_t> & shape)
{
  std::int64_t rows = 1;
  for (const auto n : shape)
    rows *= n;
  return rows;
}

void BatchShape::join(const std::string & name, const artifact::Variable & variable, const at::Tensor & value)
{
  join(name, batch_axes(variable, value), variable.sub_batch_shape.empty() && variable.base_shape.empty());
}

void BatchShape::join(const std::string & name, at::IntArrayRef shape, bool scalar)
{
  const auto same = std::find_if(_members.begin(), _members.end(), [&](const auto & m) { return shape == m.shape; });
  if (same == _members.end())
    _members.push_back({name, shape.vec(), scalar});
  else
    same->scalars = same->scalars && scalar;
  if (shape.size() > _shape.size())
  {
    const auto more = shape.size() - _shape.size();
    _shape.insert(_shape.begin(), more, 1);
    _names.insert(_names.begin(), more, "");
  }
  for (std::size_t i = 0; i < shape.size(); i++)
  {
    const auto axis = _shape.size() - shape.size() + i;
    if (shape[i] == 1 || shape[i] == _shape[axis])
    {
      if (_names[axis].empty())
        _names[axis] = name;
      continue;
    }
    if (_shape[axis] != 1)
      throw FatalError("The batch " + support::shape_text(shape.vec()) + " of '" + name +
                       "' does not broadcast with the batch of '" + _names[axis] + "', which has extent " +
                       std::to_string(_shape[axis]) + " where '" + name + "' has " + std::to_string(shape[i]) + ".");
    _shape[axis] = shape[i];
    _names[axis] = name;
  }
}

std::int64_t BatchShape::rows() const
{
  return rows_of(_shape);
}

void BatchShape::refuse_columns() const
{
  for (const auto & column : _members)
  {
    if (!column.scalars || column.shape.size() < 2 || column.shape.back() != 1)
      continue;
    const std::vector<std::int64_t> meant(column.shape.begin(), column.shape.end() - 1);
    const auto other = std::find_if(_members.begin(), _members.end(), [&](const auto & m) { return m.shape == meant; });
    const auto asked_for = [&](const Member & member) { return rows_of(member.shape) >= rows(); };
    if (other == _members.end() || std::any_of(_members.begin(), _members.end(), asked_for))
      continue;
    auto crossed = meant;
    crossed.insert(crossed.begin(), 1);
    throw FatalError("The scalar '" + column.name + "' has shape " + support::shape_text(column.shape) + ", expected " +
                     support::shape_text(meant) + " beside the batch " + support::shape_text(meant) + " of '" +
                     other->name + "': the two would broadcast to " + std::to_string(rows()) +
                     " rows. Drop the last axis, value.squeeze(-1); or, where every row of '" + column.name +
                     "' shall meet every row of '" + other->name + "', give '" + other->name + "' the batch " +
                     support::shape_text(crossed) + ".");
  }
}

void check_names(const std::string & what, const std::string & model, const TensorMap & given,
                 const std::vector<std::string> & known, bool all)
{
  const auto is_given = [&](const std::string & name) { return given.count(name) == 1; };
  if (all && given.size() == known.size() && std::all_of(known.begin(), known.end(), is_given))
    return;
  for (const auto & [name, value] : given)
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw FatalError("Model '" + model + "' has no " + what + " '" + name + "'; it has " +
                       support::quoted_list(known) + "." + support::did_you_mean(name, known));
  if (!all)
    return;
  std::vector<std::string> missing;
  for (const auto & name : known)
    if (!is_given(name))
      missing.push_back(name);
  if (!missing.empty())
    throw FatalError("Model '" + model + "' misses the " + what + (missing.size() > 1 ? "s " : " ") +
                     support::quoted_list(missing) + "; it needs " + support::quoted_list(known) + ".");
}
}
