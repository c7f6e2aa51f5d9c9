// Weights of a law that stay outside its compiled code and can be swapped while a host runs (docs/weights.md).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

namespace matlaw
{
/// What a law says of one of its weights.
struct WeightInfo
{
  std::string name;
  /// (*sub_batch, *base) of the parameter that it is
  std::vector<std::int64_t> shape;
};

/// All weights of a law at one time. Nothing in it changes once a law uses it.
struct WeightSet
{
  /// By name, on the law's device and of its dtype
  std::map<std::string, at::Tensor> tensors;
  /// 1 for the weights that a law was loaded with, one more with every update
  std::uint64_t version = 0;
  /// Where the tensors are, in the order of Model::weight_infos()
  std::vector<const void *> pointers = {};
};

struct WeightOptions
{
  /// Use the memory of the tensors that are handed over instead of copying it. Nobody may write to it as long as a law
  /// uses it; the law keeps the tensors alive. They must be contiguous and lie on the law's device.
  bool user_managed = false;
};
}
