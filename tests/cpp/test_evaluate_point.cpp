#include <cmath>
#include <limits>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "matlaw/Failure.h"
#include "toy_law.h"

using namespace matlaw;
using namespace matlaw::toy;

namespace
{
/// The values of a row, side by side.
std::vector<double> side_by_side(const std::vector<std::string> & names, const TensorMap & values, std::int64_t row)
{
  std::vector<double> all;
  for (const auto & name : names)
  {
    const auto value = values.at(name)[row].to(at::kDouble).contiguous();
    all.insert(all.end(), value.const_data_ptr<double>(), value.const_data_ptr<double>() + value.numel());
  }
  return all;
}

/// The blocks of a row, side by side.
std::vector<double> blocks_of(const aoti::Model & model, const BlockMap & jacobian, std::int64_t row)
{
  std::vector<double> all;
  for (const auto & pair : model.derivative_pairs())
  {
    auto block = jacobian.at(pair.output).at(pair.input);
    if (!pair.batch_independent)
      block = block[row];
    block = block.to(at::kDouble).contiguous();
    all.insert(all.end(), block.const_data_ptr<double>(), block.const_data_ptr<double>() + block.numel());
  }
  return all;
}

void expect_equal(const std::vector<double> & a, const std::vector<double> & b)
{
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); i++)
    EXPECT_TRUE(a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) << i << ": " << a[i] << ", " << b[i];
}
}

class EvaluatePoint : public ::testing::TestWithParam<at::ScalarType>
{
};

TEST_P(EvaluatePoint, gives_the_bits_of_a_row_of_a_batch)
{
  const ToyLaw law(GetParam());
  const auto model = law.load();
  auto inputs = toy_inputs(20, GetParam());
  inputs.at("s")[4].fill_(-1e6);                                     // no solution
  inputs.at("s")[9].fill_(std::numeric_limits<double>::quiet_NaN()); // no number
  const auto batch = model->evaluate(inputs, {.jacobian = true});
  for (std::int64_t row = 0; row < 20; row++)
  {
    const auto values = side_by_side(model->input_names(), inputs, row);
    const auto expected = side_by_side(model->output_names(), batch.outputs, row);
    const auto expected_blocks = blocks_of(*model, batch.jacobian, row);
    std::vector<double> outputs(expected.size(), 7.0), blocks(expected_blocks.size(), 7.0);
    const auto verdict = model->evaluate_point(values.data(), outputs.data(), blocks.data());
    EXPECT_EQ(std::int8_t(verdict.status), batch.status[row].item<std::int8_t>());
    EXPECT_EQ(verdict.status, row == 4 ? Status::NOT_CONVERGED : row == 9 ? Status::BAD_INPUT : Status::CONVERGED);
    EXPECT_EQ(verdict.iterations, batch.iterations[row].item<std::int32_t>());
    EXPECT_EQ(verdict.dt_factor, batch.dt_factor[row].item<double>());
    expect_equal(outputs, expected);
    if (verdict.status == Status::CONVERGED)
      expect_equal(blocks, expected_blocks);

    std::vector<double> again(expected.size());
    model->evaluate_point(values.data(), again.data(), nullptr);
    expect_equal(again, expected);
  }
}

TEST_P(EvaluatePoint, takes_parameters_of_one_value)
{
  const ToyLaw law(GetParam());
  const auto model = law.load();
  const auto inputs = toy_inputs(1, GetParam());
  const auto values = side_by_side(model->input_names(), inputs, 0);
  model->set_parameter("gain", at::tensor(3.0, GetParam()));
  const auto expected = side_by_side(model->output_names(), model->evaluate(inputs).outputs, 0);
  std::vector<double> outputs(expected.size());
  model->evaluate_point(values.data(), outputs.data(), nullptr);
  expect_equal(outputs, expected);

  model->set_parameter("gain", at::ones({5}, GetParam()));
  EXPECT_PRED_FORMAT2(mentions, fatal_error([&] { model->evaluate_point(values.data(), outputs.data(), nullptr); }),
                      (Words{"'gain'", "one value"}));
}

TEST_P(EvaluatePoint, takes_parameters_of_integers)
{
  const ToyLaw law(GetParam());
  law.edit(
      [](auto & metadata)
      {
        metadata["parameters"][0]["dtype"] = "int64";
        metadata["parameters"][0]["value"] = {2};
      });
  const auto model = law.load();
  EXPECT_EQ(model->named_parameters().at("gain").scalar_type(), at::kLong);
  const auto inputs = toy_inputs(1, GetParam());
  const auto values = side_by_side(model->input_names(), inputs, 0);
  for (const auto dtype : {at::kLong, at::kInt, at::kByte})
  {
    model->set_parameter("gain", at::full({}, 3, dtype));
    EXPECT_EQ(model->named_parameters().at("gain").scalar_type(), at::kLong);
    const ToyLaw same(GetParam());
    const auto floating = same.load();
    floating->set_parameter("gain", at::tensor(3.0, GetParam()));
    const auto expected = side_by_side(model->output_names(), floating->evaluate(inputs).outputs, 0);
    expect_equal(side_by_side(model->output_names(), model->evaluate(inputs).outputs, 0), expected);
    std::vector<double> outputs(expected.size());
    model->evaluate_point(values.data(), outputs.data(), nullptr);
    expect_equal(outputs, expected);
  }
  for (const auto & value : {at::tensor(3.0, GetParam()), at::ones({}, at::kBool)})
    EXPECT_PRED_FORMAT2(mentions, fatal_error([&] { model->set_parameter("gain", value); }),
                        (Words{"'gain'", "expected Long", "integers"}));
}

TEST_P(EvaluatePoint, a_point_that_fails_is_remembered)
{
  const ToyLaw law(GetParam());
  const auto model = law.load();
  auto inputs = toy_inputs(2, GetParam());
  inputs.at("s")[1].fill_(-1e6);
  std::vector<double> outputs(1000), blocks(1000);
  model->evaluate_point(side_by_side(model->input_names(), inputs, 0).data(), outputs.data(), blocks.data());
  EXPECT_EQ(model->last_failure(), nullptr);
  const auto verdict =
      model->evaluate_point(side_by_side(model->input_names(), inputs, 1).data(), outputs.data(), blocks.data());
  const auto failure = model->last_failure();
  ASSERT_NE(failure, nullptr);
  EXPECT_EQ(failure->n_rows, 1);
  ASSERT_EQ(failure->rows.size(), 1u);
  EXPECT_EQ(failure->rows[0].iterations, verdict.iterations);
  EXPECT_EQ(failure->rows[0].reason, Reason::ITERATION_LIMIT);
  EXPECT_TRUE(same_bits(failure->inputs.at("strain")[0], inputs.at("strain")[1]));
}

INSTANTIATE_TEST_SUITE_P(Types, EvaluatePoint, ::testing::Values(at::kDouble, at::kFloat));
