#include "aoti/ParameterGradients.h"

#include <algorithm>

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/zeros.h>

#include "support/text.h"

namespace matlaw::aoti
{
ParameterGradients::ParameterGradients(const artifact::Metadata & metadata, const std::string & folder,
                                       at::ScalarType dtype, const at::Device & device, const Arguments & arguments,
                                       const TensorMap & cotangents)
    : _dtype(dtype),
      _device(device)
{
  const auto & batch = arguments.batch.shape();
  for (const auto & output : metadata.outputs)
  {
    const auto found = cotangents.find(output.reported);
    if (found == cotangents.end())
      continue;
    check_tensor("Cotangent", output, found->second, dtype, device);
    const auto own = batch_shape(output, found->second);
    auto joined = arguments.batch;
    joined.join(output.reported, own);
    if (joined.shape() != batch)
      throw FatalError("The cotangent of '" + output.reported + "' has the batch " + support::shape_text(own) +
                       ", which does not broadcast to that of the call, " + support::shape_text(batch) + ".");
    auto whole = batch;
    const auto axes = output.public_shape();
    whole.insert(whole.end(), axes.begin(), axes.end());
    _cotangents.push_back({&output, found->second.expand(whole)
                                        .reshape({arguments.batch.rows(), output.size})
                                        .to(at::kCPU, at::kDouble)
                                        .contiguous()});
  }

  const auto has = [&](const artifact::Variable & output, const artifact::Parameter & parameter)
  {
    return std::any_of(metadata.param_derivatives.begin(), metadata.param_derivatives.end(),
                       [&](const auto & pair) { return pair.output == output.name && pair.input == parameter.name; });
  };
  for (std::size_t k = 0; k < metadata.parameters.size(); k++)
  {
    const auto & parameter = metadata.parameters[k];
    if (std::none_of(metadata.outputs.begin(), metadata.outputs.end(),
                     [&](const auto & output) { return has(output, parameter); }))
      continue;
    for (const auto & cotangent : _cotangents)
      if (!has(*cotangent.output, parameter))
        throw FatalError("The artifact '" + folder + "' has no derivative of '" + cotangent.output->reported +
                         "' by the parameter '" + parameter.reported + "'. Regenerate it via matlaw-compile -d " +
                         cotangent.output->name + ":" + parameter.name + ", or leave out the cotangent of '" +
                         cotangent.output->reported + "'.");
    const auto own = batch_shape(parameter, arguments.parameters[k]);
    std::int64_t values = 1;
    for (const auto n : own)
      values *= n;
    _gradients.push_back({&parameter, at::zeros(arguments.parameters[k].sizes(), at::kDouble),
                          at::arange(values, at::kLong).reshape(own).expand(batch).contiguous()});
  }
}

void ParameterGradients::add(std::int64_t first, std::int64_t rows, const BlockMap & blocks)
{
  struct Term
  {
    at::Tensor block;
    const double * entries;
    const double * weights;
    /// Entries from one row to the next; 0 where all have the same block
    std::int64_t stride;
    std::int64_t size;
  };
  for (const auto & gradient : _gradients)
  {
    const auto size = gradient.parameter->size;
    std::vector<Term> terms;
    for (const auto & [output, weights] : _cotangents)
    {
      const auto block = blocks.at(output->reported).at(gradient.parameter->reported).to(at::kDouble);
      const auto axes = std::int64_t(output->public_shape().size() + gradient.parameter->public_shape().size());
      terms.push_back({block, block.const_data_ptr<double>(), weights.const_data_ptr<double>() + first * output->size,
                       block.dim() == axes ? 0 : output->size * size, output->size});
    }
    const auto * owner = gradient.owner.const_data_ptr<std::int64_t>() + first;
    auto * sums = gradient.sum.mutable_data_ptr<double>();
    for (std::int64_t row = 0; row < rows; row++)
      for (const auto & term : terms)
      {
        auto * to = sums + owner[row] * size;
        const auto * entry = term.entries + row * term.stride;
        const auto * weight = term.weights + row * term.size;
        for (std::int64_t i = 0; i < term.size; i++, entry += size)
          for (std::int64_t j = 0; j < size; j++)
            to[j] += weight[i] * entry[j];
      }
  }
}

TensorMap ParameterGradients::take()
{
  TensorMap found;
  for (auto & gradient : _gradients)
    found[gradient.parameter->reported] = gradient.sum.to(_device, _dtype);
  return found;
}
}
