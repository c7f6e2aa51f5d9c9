#include <cmath>
#include <limits>
#include <thread>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <cfenv>
#include <gtest/gtest.h>
#include <xmmintrin.h>

#include "toy_law.h"

using namespace matlaw;
using namespace matlaw::toy;

namespace
{
double difference(const at::Tensor & a, const at::Tensor & b)
{
  if (a.sizes() != b.sizes())
    return std::numeric_limits<double>::infinity();
  return a.numel() ? (a.to(at::kDouble) - b.to(at::kDouble)).abs().max().item<double>() : 0.0;
}

TensorMap select_rows(const TensorMap & inputs, const at::Tensor & rows)
{
  TensorMap selected;
  for (const auto & [name, value] : inputs)
    selected[name] = value.index_select(0, rows);
  return selected;
}

void expect_same_bits(const Evaluation & a, const Evaluation & b)
{
  for (const auto & [name, value] : a.outputs)
    EXPECT_TRUE(same_bits(value, b.outputs.at(name))) << name;
  for (const auto & [output, blocks] : a.jacobian)
    for (const auto & [input, block] : blocks)
      EXPECT_TRUE(same_bits(block, b.jacobian.at(output).at(input))) << output << ":" << input;
  EXPECT_TRUE(same_bits(a.status, b.status));
  EXPECT_TRUE(same_bits(a.iterations, b.iterations));
  EXPECT_TRUE(same_bits(a.dt_factor, b.dt_factor));
}
}

class Evaluate : public ::testing::Test
{
protected:
  static const ToyLaw & law()
  {
    static const ToyLaw toy;
    return toy;
  }
};

TEST_F(Evaluate, any_number_of_rows)
{
  const auto model = law().load();
  for (const std::int64_t rows : {0, 1, 2, 3, 8, 17, 1000, 65537})
  {
    const auto inputs = toy_inputs(rows);
    const auto result = model->evaluate(inputs, {.jacobian = true});
    EXPECT_TRUE(result.ok()) << rows;
    const auto expected = toy_expected(inputs);
    EXPECT_LT(difference(result.outputs.at("stress"), expected.at("stress")), 1e-12) << rows;
    EXPECT_LT(difference(result.outputs.at("x"), expected.at("x")), 1e-12) << rows;
    EXPECT_EQ(result.jacobian.at("stress").at("strain").sizes(), (std::vector<std::int64_t>{rows, 6, 6}));
    EXPECT_EQ(result.jacobian.at("stress").at("s").sizes(), (std::vector<std::int64_t>{rows, 6}));
    EXPECT_EQ(result.jacobian.at("x").at("s").sizes(), (std::vector<std::int64_t>{rows}));
    EXPECT_EQ(result.status.sizes(), (std::vector<std::int64_t>{rows}));
    EXPECT_EQ(result.status.scalar_type(), at::kChar);
    EXPECT_EQ(result.iterations.scalar_type(), at::kInt);
    EXPECT_EQ(result.dt_factor.scalar_type(), at::kDouble);
  }
}

TEST_F(Evaluate, no_batch_and_many_batch_axes)
{
  const auto model = law().load();
  const auto flat = toy_inputs(12);
  const auto expected = model->evaluate(flat, {.jacobian = true});
  const TensorMap one = {{"strain", flat.at("strain")[5]}, {"s", flat.at("s")[5]}, {"x~1", flat.at("x~1")[5]}};
  const auto single = model->evaluate(one, {.jacobian = true});
  EXPECT_EQ(single.outputs.at("stress").sizes(), (std::vector<std::int64_t>{6}));
  EXPECT_EQ(single.status.dim(), 0);
  EXPECT_TRUE(same_bits(single.outputs.at("stress"), expected.outputs.at("stress")[5]));
  EXPECT_TRUE(same_bits(single.jacobian.at("stress").at("strain"), expected.jacobian.at("stress").at("strain")[5]));

  const TensorMap grid = {{"strain", flat.at("strain").reshape({3, 4, 6})},
                          {"s", flat.at("s").reshape({3, 4})},
                          {"x~1", at::ones({1, 1}, at::kDouble)}};
  const auto shaped = model->evaluate(grid, {.jacobian = true});
  EXPECT_TRUE(same_bits(shaped.outputs.at("stress"), expected.outputs.at("stress").reshape({3, 4, 6})));
  EXPECT_TRUE(same_bits(shaped.iterations, expected.iterations.reshape({3, 4})));
}

TEST_F(Evaluate, transposed_strided_and_expanded_inputs)
{
  const auto model = law().load();
  auto inputs = toy_inputs(40);
  const auto expected = model->evaluate(inputs);
  auto strided = inputs;
  strided["strain"] = inputs.at("strain").t().contiguous().t();
  strided["s"] = at::stack({inputs.at("s"), inputs.at("s") * 0.0}, 1).select(1, 0);
  EXPECT_TRUE(same_bits(model->evaluate(strided).outputs.at("stress"), expected.outputs.at("stress")));

  auto broadcast = inputs;
  broadcast["strain"] = inputs.at("strain")[3];
  auto repeated = inputs;
  repeated["strain"] = inputs.at("strain")[3].expand({40, 6}).contiguous();
  expect_same_bits(model->evaluate(broadcast), model->evaluate(repeated));
  broadcast["strain"] = inputs.at("strain")[3].expand({40, 6});
  expect_same_bits(model->evaluate(broadcast), model->evaluate(repeated));
  broadcast["s"] = at::scalar_tensor(2.0, at::kDouble);
  repeated["s"] = at::full({40}, 2.0, at::kDouble);
  expect_same_bits(model->evaluate(broadcast), model->evaluate(repeated));
}

TEST_F(Evaluate, impossible_rows_leave_the_others_alone)
{
  const auto model = law().load();
  auto inputs = toy_inputs(64);
  inputs["s"][7] = -5.0;
  inputs["s"][40] = -1e3;
  const auto all = model->evaluate(inputs, {.jacobian = true});
  EXPECT_EQ(all.failed_rows, (std::vector<std::int64_t>{7, 40}));
  EXPECT_FALSE(all.ok());
  std::vector<std::int64_t> rest;
  for (std::int64_t i = 0; i < 64; i++)
    if (i != 7 && i != 40)
      rest.push_back(i);
  const auto rows = at::tensor(rest);
  const auto without = model->evaluate(select_rows(inputs, rows), {.jacobian = true});
  EXPECT_TRUE(without.ok());
  for (const auto & [name, value] : without.outputs)
    EXPECT_TRUE(same_bits(value, all.outputs.at(name).index_select(0, rows))) << name;
  for (const auto & [output, blocks] : without.jacobian)
    for (const auto & [input, block] : blocks)
      EXPECT_TRUE(same_bits(block, all.jacobian.at(output).at(input).index_select(0, rows)));
  for (const auto row : {7, 40})
  {
    EXPECT_EQ(all.status[row].item<int>(), int(Status::NOT_CONVERGED));
    EXPECT_LE(all.dt_factor[row].item<double>(), 0.5);
    EXPECT_GT(all.residual[row].item<double>(), 0.0);
    EXPECT_TRUE(at::isnan(all.outputs.at("stress")[row]).all().item<bool>());
    EXPECT_TRUE(at::isnan(all.outputs.at("x")[row]).all().item<bool>());
    EXPECT_TRUE(at::isnan(all.jacobian.at("stress").at("strain")[row]).all().item<bool>());
  }
  try
  {
    model->forward(inputs);
    FAIL() << "forward() must throw";
  }
  catch (const Exception & error)
  {
    EXPECT_TRUE(error.recoverable());
    const auto * convergence = dynamic_cast<const ConvergenceError *>(&error);
    ASSERT_NE(convergence, nullptr);
    EXPECT_EQ(convergence->failed_rows(), (std::vector<std::int64_t>{7, 40}));
    EXPECT_PRED_FORMAT2(mentions, error.what(), (Words{"2 of 64 rows (7, 40)", "Worst is row"}));
  }
  EXPECT_THROW(model->jacobian(inputs), ConvergenceError);
}

TEST_F(Evaluate, non_finite_inputs_have_a_verdict_of_their_own)
{
  const auto model = law().load();
  auto inputs = toy_inputs(30);
  const auto sound = model->evaluate(inputs);
  inputs["strain"] = inputs["strain"].clone();
  inputs["strain"][4][2] = std::nan("");
  inputs["strain"][20][5] = -std::numeric_limits<double>::infinity();
  inputs["s"] = inputs["s"].clone();
  inputs["s"][11] = -5.0;
  const auto result = model->evaluate(inputs, {.jacobian = true});
  EXPECT_EQ(result.failed_rows, (std::vector<std::int64_t>{4, 11, 20}));
  EXPECT_EQ(result.status[4].item<int>(), int(Status::BAD_INPUT));
  EXPECT_EQ(result.status[11].item<int>(), int(Status::NOT_CONVERGED));
  EXPECT_EQ(result.status[20].item<int>(), int(Status::BAD_INPUT));
  EXPECT_TRUE(at::isnan(result.outputs.at("stress")[4]).all().item<bool>());
  EXPECT_TRUE(same_bits(result.outputs.at("stress")[5], sound.outputs.at("stress")[5]));
  try
  {
    model->forward(inputs);
    FAIL() << "forward() must throw";
  }
  catch (const InputError & error)
  {
    EXPECT_FALSE(error.recoverable());
    EXPECT_EQ(error.variable(), "strain");
    EXPECT_EQ(error.row(), 4);
    EXPECT_PRED_FORMAT2(mentions, error.what(), (Words{"'strain'", "row 4", "4, 20"}));
  }
  const TensorMap all_bad = {
      {"strain", at::full({6}, std::nan(""))}, {"s", at::ones({3}, at::kDouble)}, {"x~1", at::ones({}, at::kDouble)}};
  EXPECT_THROW(
      model->forward(
          {{"strain", all_bad.at("strain").to(at::kDouble)}, {"s", all_bad.at("s")}, {"x~1", all_bad.at("x~1")}}),
      InputError);
}

TEST_F(Evaluate, wrong_calls_are_named)
{
  const auto model = law().load();
  const auto inputs = toy_inputs(3);
  const auto refused = [&](const std::function<void(TensorMap &)> & change)
  {
    auto changed = inputs;
    change(changed);
    return fatal_error([&] { model->evaluate(changed); });
  };
  EXPECT_PRED_FORMAT2(mentions, refused([](auto & in) { in.erase("s"); }), (Words{"misses the input 's'", "'strain'"}));
  EXPECT_PRED_FORMAT2(mentions, refused([](auto & in) { in.clear(); }), (Words{"'strain', 's', 'x~1'"}));
  EXPECT_PRED_FORMAT2(mentions, refused([](auto & in) { in["strian"] = in["strain"]; }),
                      (Words{"no input 'strian'", "Did you mean 'strain'"}));
  EXPECT_PRED_FORMAT2(mentions, refused([](auto & in) { in["strain"] = in["strain"].to(at::kFloat); }),
                      (Words{"'strain'", "Float", "Double"}));
  EXPECT_PRED_FORMAT2(mentions, refused([](auto & in) { in["strain"] = in["strain"].narrow(1, 0, 5); }),
                      (Words{"(3, 5)", "(*B, 6)", "SR2"}));
  EXPECT_PRED_FORMAT2(mentions, refused([](auto & in) { in["strain"] = at::zeros({}, at::kDouble); }),
                      (Words{"(*B, 6)"}));
  EXPECT_PRED_FORMAT2(mentions, refused([](auto & in) { in["s"] = at::ones({4}, at::kDouble); }),
                      (Words{"does not broadcast", "'s'", "'strain'"}));
  EXPECT_PRED_FORMAT2(mentions, refused([](auto & in) { in["s"] = in["s"].unsqueeze(1); }),
                      (Words{"scalar 's' has shape (3, 1)", "9 rows", "squeeze(-1)", "'strain' the batch (1, 3)"}));
  EXPECT_PRED_FORMAT2(mentions, refused([](auto & in) { in["s"] = at::Tensor(); }), (Words{"undefined"}));
  EXPECT_PRED_FORMAT2(
      mentions, refused([](auto & in) { in["s"] = at::ones({3}, at::TensorOptions(at::kDouble).device("meta")); }),
      (Words{"meta", "cpu"}));
  EXPECT_PRED_FORMAT2(mentions, refused([](auto & in) { in["s"] = in["s"].to_sparse(); }), (Words{"dense"}));
}

TEST_F(Evaluate, rows_threads_and_chunks_change_no_bit)
{
  auto inputs = toy_inputs(777);
  inputs["s"] = inputs["s"].clone();
  inputs["s"][123] = -5.0;
  const auto expected = law().load({.threads = 1})->evaluate(inputs, {.jacobian = true});
  for (const std::int64_t threads : {1, 2, 4})
    for (const std::int64_t chunk : {0, 1, 8, 13, 64, 100000})
      expect_same_bits(expected,
                       law().load({.threads = threads, .max_chunk_rows = chunk})->evaluate(inputs, {.jacobian = true}));
  at::manual_seed(1);
  const auto order = at::randperm(777, at::kLong);
  const auto permuted = law().load()->evaluate(select_rows(inputs, order), {.jacobian = true});
  EXPECT_TRUE(same_bits(permuted.outputs.at("stress"), expected.outputs.at("stress").index_select(0, order)));
  EXPECT_TRUE(same_bits(permuted.jacobian.at("stress").at("strain"),
                        expected.jacobian.at("stress").at("strain").index_select(0, order)));
  EXPECT_TRUE(same_bits(permuted.iterations, expected.iterations.index_select(0, order)));
  const auto model = law().load();
  for (const std::int64_t row : {0, 1, 77, 776})
  {
    const auto alone = model->evaluate(select_rows(inputs, at::tensor({row})), {.jacobian = true});
    EXPECT_TRUE(same_bits(alone.outputs.at("stress")[0], expected.outputs.at("stress")[row]));
    EXPECT_TRUE(same_bits(alone.jacobian.at("x").at("strain")[0], expected.jacobian.at("x").at("strain")[row]));
  }
}

TEST_F(Evaluate, four_threads_call_one_model)
{
  const auto model = law().load({.threads = 2});
  std::vector<TensorMap> inputs;
  std::vector<Evaluation> expected;
  for (int i = 0; i < 4; i++)
  {
    inputs.push_back(toy_inputs(500 + 100 * i));
    inputs.back()["s"] = inputs.back()["s"] + 0.1 * i;
    expected.push_back(model->evaluate(inputs.back(), {.jacobian = true}));
  }
  std::vector<std::thread> threads;
  std::vector<int> right(4, 0);
  for (int i = 0; i < 4; i++)
    threads.emplace_back(
        [&, i]
        {
          for (int repeat = 0; repeat < 20; repeat++)
          {
            const auto result = model->evaluate(inputs[i], {.jacobian = true});
            right[i] +=
                same_bits(result.outputs.at("stress"), expected[i].outputs.at("stress")) &&
                same_bits(result.jacobian.at("stress").at("strain"), expected[i].jacobian.at("stress").at("strain"));
          }
        });
  for (auto & thread : threads)
    thread.join();
  EXPECT_EQ(right, (std::vector<int>{20, 20, 20, 20}));
}

TEST_F(Evaluate, derivatives_agree_with_finite_differences)
{
  const auto model = law().load();
  const auto inputs = toy_inputs(11);
  const auto [outputs, blocks] = model->jacobian(inputs);
  const double h = 1e-6;
  for (const auto & pair : model->derivative_pairs())
  {
    const auto & base = inputs.at(pair.input);
    const auto columns = base.dim() == 2 ? 6 : 1;
    auto block = blocks.at(pair.output).at(pair.input);
    if (base.dim() == 1)
      block = block.unsqueeze(-1);
    for (std::int64_t j = 0; j < columns; j++)
    {
      auto up = inputs, down = inputs;
      up[pair.input] = base.clone();
      down[pair.input] = base.clone();
      (base.dim() == 2 ? up[pair.input].select(1, j) : up[pair.input]).add_(h);
      (base.dim() == 2 ? down[pair.input].select(1, j) : down[pair.input]).sub_(h);
      const auto slope = (model->forward(up).at(pair.output) - model->forward(down).at(pair.output)) / (2 * h);
      EXPECT_LT(difference(block.select(-1, j), slope), 1e-8) << pair.output << ":" << pair.input << " column " << j;
    }
  }
  const TensorMap tangents = {{"strain", at::sin(at::arange(66, at::kDouble)).reshape({11, 6})}};
  const auto [values, directional] = model->jvp(inputs, tangents);
  EXPECT_TRUE(same_bits(values.at("stress"), outputs.at("stress")));
  const auto expected = at::matmul(blocks.at("stress").at("strain"), tangents.at("strain").unsqueeze(-1)).squeeze(-1);
  EXPECT_LT(difference(directional.at("stress"), expected), 1e-14);
  EXPECT_EQ(directional.at("x").sizes(), (std::vector<std::int64_t>{11}));
  const auto both =
      model->jvp(inputs, {{"strain", tangents.at("strain")}, {"s", at::full({}, 2.0, at::kDouble)}}).second;
  EXPECT_LT(difference(both.at("x"), directional.at("x") + 2.0 * blocks.at("x").at("s")), 1e-14);
  for (const auto & [name, still] : model->jvp(inputs, {}).second)
    EXPECT_TRUE(at::equal(still, at::zeros_like(outputs.at(name)))) << name;
}

TEST_F(Evaluate, derivatives_that_are_not_compiled)
{
  const auto model = law().load();
  const auto inputs = toy_inputs(2);
  EXPECT_PRED_FORMAT2(mentions, fatal_error([&] { model->jvp(inputs, {{"x~1", inputs.at("x~1")}}); }), (Words{"-d"}));
  EXPECT_PRED_FORMAT2(mentions, fatal_error([&] { model->jvp(inputs, {{"strane", inputs.at("strain")}}); }),
                      (Words{"'strain'"}));
  EXPECT_PRED_FORMAT2(mentions, fatal_error([&] { model->jvp(inputs, {{"strain", inputs.at("s")}}); }),
                      (Words{"Tangent 'strain'"}));
  EXPECT_PRED_FORMAT2(mentions, fatal_error([&] { model->param_jacobian(inputs); }), (Words{"-p", "-d :gain"}));
  EXPECT_PRED_FORMAT2(mentions, fatal_error([&] { model->param_vjp(inputs, {}); }), (Words{"-p", "-d :gain"}));
  const ToyLaw plain;
  plain.edit([](auto & metadata) { metadata["derivatives"] = nlohmann::json::array(); });
  const auto without = plain.load();
  EXPECT_PRED_FORMAT2(mentions, fatal_error([&] { without->jacobian(inputs); }), (Words{"matlaw-compile -d"}));
  EXPECT_NO_THROW(without->forward(inputs));
  const ToyLaw partial;
  partial.edit([](auto & metadata) { metadata["derivatives"].erase(1); });
  EXPECT_PRED_FORMAT2(
      mentions,
      fatal_error([&] { partial.load()->jvp(inputs, {{"strain", inputs.at("strain")}, {"s", inputs.at("s")}}); }),
      (Words{"-d stress:s"}));
}

TEST_F(Evaluate, unrequested_derivatives_do_not_disturb_the_requested_ones)
{
  const auto inputs = toy_inputs(9);
  const auto full = law().load()->jacobian(inputs).second;
  for (int keep = 0; keep < 4; keep++)
  {
    const ToyLaw one;
    one.edit([&](auto & metadata)
             { metadata["derivatives"] = nlohmann::json::array({metadata["derivatives"][keep]}); });
    const auto blocks = one.load()->jacobian(inputs).second;
    ASSERT_EQ(blocks.size(), 1u);
    const auto & [output, row] = *blocks.begin();
    const auto & [input, block] = *row.begin();
    EXPECT_LT(difference(block, full.at(output).at(input)), 1e-14) << output << ":" << input;
  }
}

TEST_F(Evaluate, parameters)
{
  const auto model = law().load();
  const auto inputs = toy_inputs(20);
  ASSERT_EQ(model->named_parameters().size(), 1u);
  EXPECT_EQ(model->named_parameters().at("gain").item<double>(), 1.0);
  model->set_parameter("gain", at::scalar_tensor(3.0, at::kDouble));
  EXPECT_LT(difference(model->forward(inputs).at("stress"), toy_expected(inputs, 3.0).at("stress")), 1e-12);
  auto gain = at::linspace(1.0, 2.0, 20, at::kDouble);
  model->set_parameter("gain", gain);
  gain.zero_(); // a copy was taken
  const auto expected = toy_expected(inputs).at("stress") * at::linspace(1.0, 2.0, 20, at::kDouble).unsqueeze(-1);
  EXPECT_LT(difference(model->forward(inputs).at("stress"), expected), 1e-12);
  const TensorMap one = {{"strain", inputs.at("strain")[0]}, {"s", inputs.at("s")[0]}, {"x~1", inputs.at("x~1")[0]}};
  EXPECT_EQ(model->forward(one).at("stress").sizes(), (std::vector<std::int64_t>{20, 6}))
      << "the parameter's batch counts";
  EXPECT_PRED_FORMAT2(mentions, fatal_error([&] { model->forward(toy_inputs(3)); }), (Words{"'gain'"}));
  EXPECT_PRED_FORMAT2(mentions, fatal_error([&] { model->set_parameter("gian", gain); }), (Words{"'gain'"}));
  EXPECT_PRED_FORMAT2(mentions, fatal_error([&] { model->set_parameter("gain", gain.to(at::kFloat)); }),
                      (Words{"Float"}));
  EXPECT_PRED_FORMAT2(mentions,
                      fatal_error([&] { model->set_parameter("gain", at::scalar_tensor(std::nan(""), at::kDouble)); }),
                      (Words{"'gain'", "NaN"}));
}

TEST_F(Evaluate, single_precision)
{
  const ToyLaw single(at::kFloat);
  const auto model = single.load();
  EXPECT_EQ(model->dtype(), at::kFloat);
  const auto inputs = toy_inputs(29, at::kFloat);
  const auto result = model->evaluate(inputs, {.jacobian = true});
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(result.outputs.at("stress").scalar_type(), at::kFloat);
  EXPECT_LT(difference(result.outputs.at("stress"), toy_expected(inputs).at("stress")), 1e-5);
  const auto reference = law().load()->jacobian(toy_inputs(29)).second.at("stress").at("strain");
  EXPECT_LT(difference(result.jacobian.at("stress").at("strain"), reference), 1e-4);
  EXPECT_PRED_FORMAT2(mentions, fatal_error([&] { model->evaluate(toy_inputs(2)); }), (Words{"Double", "Float"}));
}

TEST_F(Evaluate, host_settings_are_left_alone)
{
  const auto model = law().load({.threads = 2});
  auto inputs = toy_inputs(300);
  const auto expected = model->evaluate(inputs);
  inputs["s"] = inputs["s"].clone();
  inputs["s"][7] = -5.0;
  const auto threads = at::get_num_threads();
  // A host that flushes subnormals and traps invalid operations: it must survive, and find its settings again.
  const auto before = _mm_getcsr();
  const auto mode = (before | 0x8040) & ~_MM_MASK_INVALID & ~_MM_MASK_DIV_ZERO;
  _mm_setcsr(mode & ~0x3fu);
  const auto result = model->evaluate(inputs, {.jacobian = true});
  const auto after = _mm_getcsr();
  _mm_setcsr(before);
  EXPECT_EQ(after & ~0x3fu, mode & ~0x3fu);
  EXPECT_EQ(at::get_num_threads(), threads);
  EXPECT_EQ(result.failed_rows, (std::vector<std::int64_t>{7}));
  EXPECT_TRUE(same_bits(result.outputs.at("stress")[8], expected.outputs.at("stress")[8]));
}

TEST_F(Evaluate, a_block_that_all_rows_share_has_no_batch)
{
  const ToyLaw plain;
  plain.edit(
      [](auto & metadata)
      {
        metadata["outputs"].push_back(metadata["variables"]["trial"]);
        metadata["derivatives"].push_back({{"output", "trial"}, {"input", "strain"}, {"batch_independent", true}});
      });
  const auto model = plain.load();
  EXPECT_TRUE(model->derivative_pairs().back().batch_independent);
  EXPECT_FALSE(model->derivative_pairs().front().batch_independent);
  at::Tensor first;
  for (const std::int64_t rows : {3, 0, 1, 1000})
  {
    auto inputs = toy_inputs(rows);
    if (rows == 3) // none of which can be computed
      inputs["s"] = at::tensor({NAN, -50.0, NAN}, at::kDouble);
    const auto result = model->evaluate(inputs, {.jacobian = true});
    const auto block = result.jacobian.at("trial").at("strain");
    ASSERT_EQ(block.sizes(), (std::vector<std::int64_t>{6, 6}));
    EXPECT_EQ(result.jacobian.at("stress").at("strain").sizes(), (std::vector<std::int64_t>{rows, 6, 6}));
    if (first.defined())
    {
      EXPECT_TRUE(same_bits(block, first));
    }
    first = block.clone();
    block.zero_(); // a caller may do what it likes with its block
  }
  EXPECT_DOUBLE_EQ(first[1][2].item<double>(), 2.0 / 7);
  const auto inputs = toy_inputs(4);
  const auto [outputs, tangent] = model->jvp(inputs, {{"strain", inputs.at("strain")}});
  EXPECT_LT(difference(tangent.at("trial"), outputs.at("trial")), 1e-15);
  const auto one = model->jvp(inputs, {{"strain", inputs.at("strain")[2]}}).second;
  EXPECT_LT(difference(one.at("trial")[3], outputs.at("trial")[2]), 1e-15);
}
