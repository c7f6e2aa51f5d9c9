// What the tests share: the first step of a law from its virgin state.
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/ATen.h>

#include <matlaw/Model.h>

/// All inputs zero but for a uniaxial strain that grows from row to row, at time 1.
inline matlaw::TensorMap first_step(const matlaw::Model & law, std::int64_t rows)
{
  const auto options = at::TensorOptions().dtype(law.dtype()).device(law.device());
  matlaw::TensorMap inputs;
  for (std::size_t i = 0; i < law.input_names().size(); ++i)
  {
    // (*B, *base)
    std::vector<std::int64_t> shape{rows};
    shape.insert(shape.end(), law.input_base_shapes()[i].begin(), law.input_base_shapes()[i].end());
    inputs[law.input_names()[i]] = at::zeros(shape, options);
  }
  inputs.at("strain").select(1, 0).copy_(at::linspace(1e-4, 2.5e-3, rows, options));
  inputs.at("t").fill_(1.0);
  return inputs;
}
