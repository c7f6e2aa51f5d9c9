#include "weights/weight_checks.h"

#include <algorithm>

#include <ATen/core/Tensor.h>
#include <ATen/ops/isfinite.h>

#include "matlaw/errors.h"
#include "support/text.h"

namespace matlaw::weights
{
namespace
{
template <typename Real>
bool is_finite_on_cpu(const at::Tensor & tensor)
{
  // A sum of x - x is NaN where any x is not finite.
  const auto * x = tensor.const_data_ptr<Real>();
  const auto n = tensor.numel();
  constexpr std::int64_t lanes = 16;
  Real sums[lanes] = {};
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (std::int64_t k = 0; k < lanes; k++)
      sums[k] += x[i + k] - x[i + k];
  Real sum = 0;
  for (; i < n; i++)
    sum += x[i] - x[i];
  for (const auto part : sums)
    sum += part;
  return sum == 0;
}

bool is_finite(const at::Tensor & tensor)
{
  if (!tensor.device().is_cpu())
    return at::isfinite(tensor).all().item<bool>();
  return tensor.scalar_type() == at::kDouble ? is_finite_on_cpu<double>(tensor) : is_finite_on_cpu<float>(tensor);
}

const char * text_of(at::ScalarType dtype)
{
  return dtype == at::kDouble ? "float64" : dtype == at::kFloat ? "float32" : at::toString(dtype);
}
}

std::shared_ptr<WeightSet> checked_set(const std::string & model, const std::vector<WeightInfo> & infos,
                                       at::ScalarType dtype, const at::Device & device, const TensorMap & tensors,
                                       const WeightOptions & options)
{
  const auto refuse = [&](const std::string & what)
  { throw FatalError("Model '" + model + "' keeps its weights: " + what + "."); };
  if (infos.empty())
    throw FatalError("Model '" + model +
                     "' has no weights outside its compiled code. Regenerate the artifact via matlaw-compile "
                     "--external-weights.");
  for (const auto & [name, tensor] : tensors)
    if (std::none_of(infos.begin(), infos.end(), [&, &name = name](const auto & info) { return info.name == name; }))
    {
      std::vector<std::string> known;
      for (const auto & info : infos)
        known.push_back(info.name);
      refuse("there is no weight '" + name + "'; it has " + support::quoted_list(known));
    }
  auto set = std::make_shared<WeightSet>();
  for (const auto & info : infos)
  {
    const auto found = tensors.find(info.name);
    if (found == tensors.end() || !found->second.defined())
      refuse("weight '" + info.name + "' is missing, and an update gives all of them");
    auto tensor = found->second.detach();
    const auto subject = "weight '" + info.name + "' ";
    if (tensor.sizes() != at::IntArrayRef(info.shape))
      refuse(subject + "has the shape " + support::shape_text(tensor.sizes().vec()) + ", expected " +
             support::shape_text(info.shape));
    if (tensor.scalar_type() != dtype)
      refuse(subject + "has the dtype " + text_of(tensor.scalar_type()) + ", expected " + text_of(dtype) +
             "; convert it");
    const bool elsewhere =
        tensor.device().type() != device.type() || (device.has_index() && tensor.device().index() != device.index());
    if (options.user_managed && elsewhere)
      refuse(subject + "is on " + tensor.device().str() + ", and this law runs on " + device.str() +
             ": hand over a copy, or update without user_managed");
    if (options.user_managed && !tensor.is_contiguous())
      refuse(subject + "is not contiguous: hand over a contiguous tensor, or update without user_managed");
    if (!options.user_managed)
      tensor = elsewhere ? tensor.to(device).contiguous() : tensor.clone(at::MemoryFormat::Contiguous);
    if (!is_finite(tensor))
      refuse(subject + "holds NaN or an infinity");
    set->pointers.push_back(tensor.const_data_ptr());
    set->tensors.emplace(info.name, std::move(tensor));
  }
  return set;
}
}
