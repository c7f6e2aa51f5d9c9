// Derivatives by a parameter that acts in every segment, against finite differences.
#include <limits>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "toy_law.h"

using namespace matlaw;
using namespace matlaw::toy;
using nlohmann::json;

namespace
{
double difference(const at::Tensor & a, const at::Tensor & b)
{
  if (a.sizes() != b.sizes())
    return std::numeric_limits<double>::infinity();
  return a.numel() ? (a - b).abs().max().item<double>() : 0.0;
}

/// The toy law with `gain` in every segment: trial = gain K strain, x y = gain s + c sum(trial), stress = gain (1 + x)
/// trial.
class Gain : public ::testing::Test
{
protected:
  Gain()
  {
    law.promote_gain_everywhere();
    model = law.load({.threads = 2, .max_chunk_rows = 8});
  }

  /// (f(gain + h) - f(gain - h)) / 2 h per row
  TensorMap slopes(const TensorMap & inputs)
  {
    const double h = 1e-6;
    const auto gain = model->named_parameters().at("gain").clone();
    model->set_parameter("gain", gain + h);
    const auto up = model->forward(inputs);
    model->set_parameter("gain", gain - h);
    const auto down = model->forward(inputs);
    model->set_parameter("gain", gain);
    TensorMap found;
    for (const auto & [name, value] : up)
      found[name] = (value - down.at(name)) / (2 * h);
    return found;
  }

  ToyLaw law;
  std::unique_ptr<aoti::Model> model;
};
}

TEST_F(Gain, all_ways_to_the_output_add_up)
{
  for (const std::int64_t rows : {0, 1, 3, 29})
  {
    const auto inputs = toy_inputs(rows);
    const auto blocks = model->param_jacobian(inputs);
    for (const auto & [output, slope] : slopes(inputs))
      EXPECT_LT(difference(blocks.at(output).at("gain"), slope), 1e-8) << output << ", " << rows << " rows";
  }
}

TEST_F(Gain, a_value_per_row_has_its_own_derivative)
{
  model->set_parameter("gain", 0.5 + at::arange(29, at::kDouble) / 20);
  const auto inputs = toy_inputs(29);
  const auto blocks = model->param_jacobian(inputs);
  for (const auto & [output, slope] : slopes(inputs))
    EXPECT_LT(difference(blocks.at(output).at("gain"), slope), 1e-8) << output;
}

TEST_F(Gain, adjoint_is_summed_over_rows_that_share_a_value)
{
  auto inputs = toy_inputs(28);
  for (auto & [name, value] : inputs)
    value = value.unflatten(0, {4, 7});
  const TensorMap cotangents = {{"stress", at::sin(at::arange(6 * 28, at::kDouble)).reshape({4, 7, 6})},
                                {"x", at::cos(at::arange(7, at::kDouble))}};
  for (const std::vector<std::int64_t> & shape : {std::vector<std::int64_t>{}, {7}, {4, 1}, {4, 7}})
  {
    model->set_parameter("gain", at::full(shape, 1.25, at::kDouble));
    const auto blocks = model->param_jacobian(inputs);
    const auto each = (blocks.at("stress").at("gain") * cotangents.at("stress")).sum(-1) +
                      blocks.at("x").at("gain") * cotangents.at("x");
    const auto gradient = model->param_vjp(inputs, cotangents).at("gain");
    EXPECT_LT(difference(gradient, each.sum_to_size(shape)), 1e-12);
  }
  EXPECT_EQ(model->param_vjp(inputs, {}).at("gain").abs().max().item<double>(), 0.0);
}

TEST_F(Gain, same_bits_however_the_rows_are_computed)
{
  const auto inputs = toy_inputs(203);
  const TensorMap cotangents = {{"stress", at::ones({6}, at::kDouble)}};
  const auto reference = model->param_jacobian(inputs);
  const auto gradient = model->param_vjp(inputs, cotangents).at("gain");
  for (const std::int64_t threads : {1, 2, 4})
    for (const std::int64_t chunk : {1, 7, 64})
    {
      const auto other = law.load({.threads = threads, .max_chunk_rows = chunk});
      const auto blocks = other->param_jacobian(inputs);
      for (const auto & [output, by] : reference)
        EXPECT_TRUE(same_bits(by.at("gain"), blocks.at(output).at("gain"))) << output;
      EXPECT_TRUE(same_bits(other->param_vjp(inputs, cotangents).at("gain"), gradient));
    }
}

TEST_F(Gain, input_derivatives_are_what_they_were)
{
  const auto inputs = toy_inputs(5);
  const auto blocks = model->jacobian(inputs).second;
  const double h = 1e-6;
  auto up = inputs, down = inputs;
  up["s"] = inputs.at("s") + h;
  down["s"] = inputs.at("s") - h;
  const auto slope = (model->forward(up).at("stress") - model->forward(down).at("stress")) / (2 * h);
  EXPECT_LT(difference(blocks.at("stress").at("s"), slope), 1e-8);
}

TEST_F(Gain, rows_that_fail_throw)
{
  auto inputs = toy_inputs(9);
  inputs["s"] = inputs.at("s").clone();
  inputs["s"][4] = -50.0;
  try
  {
    model->param_jacobian(inputs);
    FAIL() << "a row without a solution was not reported";
  }
  catch (const ConvergenceError & error)
  {
    EXPECT_EQ(error.failed_rows(), (std::vector<std::int64_t>{4}));
  }
  EXPECT_THROW(model->param_vjp(inputs, {}), ConvergenceError);
  inputs["s"][4] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(model->param_jacobian(inputs), InputError);
}

TEST_F(Gain, wrong_calls_are_named)
{
  const auto inputs = toy_inputs(3);
  const auto vjp = [&](const TensorMap & cotangents)
  { return fatal_error([&] { model->param_vjp(inputs, cotangents); }); };
  EXPECT_PRED_FORMAT2(mentions, vjp({{"stres", at::ones({6}, at::kDouble)}}), (Words{"'stres'", "'stress'"}));
  EXPECT_PRED_FORMAT2(mentions, vjp({{"stress", at::ones({5}, at::kDouble)}}), (Words{"Cotangent 'stress'"}));
  EXPECT_PRED_FORMAT2(mentions, vjp({{"x", at::ones({2}, at::kDouble)}}), (Words{"'x'", "broadcast"}));
  EXPECT_PRED_FORMAT2(mentions, vjp({{"x", at::ones({5, 3}, at::kDouble)}}), (Words{"'x'", "broadcast"}));
  law.edit([](json & metadata) { metadata["param_derivatives"].erase(1); });
  model = law.load();
  EXPECT_PRED_FORMAT2(mentions, vjp({{"x", at::ones({3}, at::kDouble)}}), (Words{"-d x:gain"}));
  EXPECT_EQ(model->param_jacobian(inputs).count("x"), 0U);
}
