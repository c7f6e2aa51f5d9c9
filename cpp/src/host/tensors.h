// Small helpers on shapes, names and tensors of the host room.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

namespace matlaw::host
{
using Shape = std::vector<std::int64_t>;

/// Number of components of a value of this shape.
std::int64_t count(const Shape & shape);
Shape join(const Shape & first, const Shape & second);

/// 'a', 'b'; or none
std::string list(const std::vector<std::string> & names);

/// What a host sees: double, on the CPU.
at::TensorOptions host_options();
/// How the host sees a tensor of the law; the tensor itself for a float64 law on the CPU.
at::Tensor to_host(const at::Tensor & tensor);
/// A tensor of the host's kind with a copy of `values`.
at::Tensor copy_of(const double * values, const Shape & shape);
/// The values, which live as long as the pointer.
std::shared_ptr<const double> share(const at::Tensor & tensor);
/// Something else holds the tensor or its memory, so that it must not be written to.
bool is_shared(const at::Tensor & tensor);
}
