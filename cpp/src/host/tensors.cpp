#include "tensors.h"

#include <cstring>
#include <functional>
#include <numeric>

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

namespace matlaw::host
{
std::int64_t count(const Shape & shape)
{
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

Shape join(const Shape & first, const Shape & second)
{
  Shape result = first;
  result.insert(result.end(), second.begin(), second.end());
  return result;
}

std::string list(const std::vector<std::string> & names)
{
  std::string text;
  for (const auto & name : names)
    text += (text.empty() ? "'" : ", '") + name + "'";
  return text.empty() ? "none" : text;
}

at::TensorOptions host_options()
{
  return at::TensorOptions().dtype(at::kDouble).device(at::kCPU);
}

at::Tensor to_host(const at::Tensor & tensor)
{
  return tensor.detach().to(host_options()).contiguous();
}

at::Tensor copy_of(const double * values, const Shape & shape)
{
  at::Tensor tensor = at::empty(shape, host_options());
  if (tensor.numel() > 0)
    std::memcpy(tensor.mutable_data_ptr<double>(), values, sizeof(double) * static_cast<std::size_t>(tensor.numel()));
  return tensor;
}

std::shared_ptr<const double> share(const at::Tensor & tensor)
{
  const auto keep = std::make_shared<at::Tensor>(tensor);
  return {keep, keep->const_data_ptr<double>()};
}

bool is_shared(const at::Tensor & tensor)
{
  return tensor.use_count() > 1 || tensor.storage().use_count() > 1;
}
}
