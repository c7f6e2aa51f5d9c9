#include <algorithm>
#include <map>
#include <set>

#include <ATen/core/Tensor.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/zeros_like.h>

#include "aoti/ModelImplementation.h"
#include "aoti/call_checks.h"
#include "support/text.h"

namespace matlaw::aoti
{
using artifact::Variable;

std::pair<TensorMap, TensorMap> Model::jvp(const TensorMap & inputs, const TensorMap & tangents) const
{
  const auto & self = *_implementation;
  check_names("input", name(), tangents, self.description.input_names, false);
  std::set<std::string> directions;
  for (const auto & [input, tangent] : tangents)
    directions.insert(input);
  // The outputs that have a compiled derivative along some direction must have one along each.
  std::set<std::string> reached;
  for (const auto & pair : self.description.derivative_pairs)
    if (directions.count(pair.input))
      reached.insert(pair.output);
  const auto compiled = [&](const std::string & output, const std::string & input)
  {
    return std::any_of(self.description.derivative_pairs.begin(), self.description.derivative_pairs.end(),
                       [&](const auto & pair) { return pair.output == output && pair.input == input; });
  };
  if (reached.empty() && !directions.empty())
    throw FatalError("The artifact '" + self.artifact.folder + "' has no derivative of any output by " +
                     support::quoted_list({directions.begin(), directions.end()}) +
                     ". Regenerate it via matlaw-compile -d :" + *directions.begin() + ".");
  for (const auto & output : reached)
    for (const auto & input : directions)
      if (!compiled(output, input))
        throw FatalError("The artifact '" + self.artifact.folder + "' has no derivative of '" + output + "' by '" +
                         input + "'. Regenerate it via matlaw-compile -d " + output + ":" + input +
                         ", or leave out the tangent of '" + input + "'.");

  std::map<std::string, const Variable *> variables;
  BatchShape batch;
  for (const auto & variable : self.metadata().inputs)
    if (const auto tangent = tangents.find(variable.reported); tangent != tangents.end())
    {
      check_tensor("Tangent", variable, tangent->second, self.artifact.dtype, self.artifact.device);
      batch.join(variable.reported + " (tangent)", variable, tangent->second);
      variables[variable.reported] = &variable;
    }
  for (const auto & variable : self.metadata().inputs)
    if (const auto input = inputs.find(variable.reported); input != inputs.end())
    {
      check_tensor("Input", variable, input->second, self.artifact.dtype, self.artifact.device);
      batch.join(variable.reported, variable, input->second);
    }
  batch.refuse_columns();
  auto [outputs, blocks] = directions.empty() ? std::pair{forward(inputs), BlockMap{}} : jacobian(inputs);
  TensorMap derivatives;
  for (const auto & output : self.metadata().outputs)
  {
    if (directions.empty())
      derivatives[output.reported] = at::zeros_like(outputs.at(output.reported));
    if (!reached.count(output.reported))
      continue;
    at::Tensor sum;
    for (const auto & [input, variable] : variables)
    {
      const auto rows = batch_shape(output, outputs.at(output.reported));
      auto whole = rows, flat = rows;
      for (const auto & axes : {output.public_shape(), variable->public_shape()})
        whole.insert(whole.end(), axes.begin(), axes.end());
      flat.insert(flat.end(), {output.size, variable->size});
      const auto matrix = blocks.at(output.reported).at(input).expand(whole).reshape(flat);
      const auto own = batch_shape(*variable, tangents.at(input));
      auto full = own, shape = own;
      const auto axes = variable->public_shape();
      full.insert(full.end(), axes.begin(), axes.end());
      shape.insert(shape.end(), {variable->size, 1});
      const auto term = at::matmul(matrix, tangents.at(input).expand(full).reshape(shape)).squeeze(-1);
      sum = sum.defined() ? sum.add(term) : term;
    }
    auto shape = sum.sizes().slice(0, std::size_t(sum.dim()) - 1).vec();
    const auto axes = output.public_shape();
    shape.insert(shape.end(), axes.begin(), axes.end());
    derivatives[output.reported] = sum.reshape(shape);
  }
  return {std::move(outputs), std::move(derivatives)};
}
}
