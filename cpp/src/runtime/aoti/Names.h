// Everything that a law's metadata knows by name.
#pragma once

#include <map>
#include <string>

#include "artifact/Metadata.h"

namespace matlaw::aoti
{
/// Variables, parameters and weights by name; `metadata` must outlive it.
struct Names
{
  explicit Names(const artifact::Metadata & metadata)
  {
    for (const auto & [name, variable] : metadata.variables)
      variables[name] = &variable;
    for (const auto & variable : metadata.outputs)
      variables[variable.name] = &variable;
    for (const auto & variable : metadata.inputs)
      variables[variable.name] = &variable;
    for (const auto & parameter : metadata.parameters)
      parameters[parameter.name] = &parameter;
    for (std::size_t k = 0; k < metadata.weights.size(); k++)
    {
      weights[metadata.weights[k].name] = &metadata.weights[k];
      weight_positions[metadata.weights[k].name] = k;
    }
  }

  /// Components of a variable
  std::int64_t size_of(const std::string & variable) const { return variables.at(variable)->size; }

  std::map<std::string, const artifact::Variable *> variables, parameters, weights;
  /// Position of each weight among all
  std::map<std::string, std::size_t> weight_positions;
};

/// Length of the flat vector that the slices lie in.
inline std::int64_t total_size(const std::vector<artifact::Slice> & slices)
{
  std::int64_t total = 0;
  for (const auto & slice : slices)
    total += slice.size;
  return total;
}
}
