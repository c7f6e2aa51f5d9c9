// The toy law with its gain as a weight outside the code, in all of its segments:
//
//     trial = gain K strain,  x y = gain s + c sum(trial),  stress = gain (1 + x) trial
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "toy_law.h"

namespace matlaw::toy
{
/// The bytes of a safetensors file with numbers of type F64.
std::string safetensors(const std::vector<std::pair<std::string, std::vector<double>>> & tensors);

/// `gain` as the law takes it.
TensorMap gain_of(double gain);

/// Artifact of that law, with a gain of 1.
class WeightedToy
{
public:
  WeightedToy();
  std::shared_ptr<aoti::Model> load(const LoadOptions & options = {}) const;
  std::filesystem::path folder() const { return _law.folder(); }
  /// The file of the weights
  std::filesystem::path file() const;
  /// Changes metadata.json and seals it again.
  void edit(const std::function<void(nlohmann::json &)> & change) const { _law.edit(change); }

private:
  ToyLaw _law;
};
}
