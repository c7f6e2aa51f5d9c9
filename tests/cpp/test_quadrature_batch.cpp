// QuadratureBatch on the toy law; what concerns state in detail is tested from Python.
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "matlaw/host/QuadratureBatch.h"
#include "torch_free/torch_free_host.h"
#include "toy_law.h"

namespace matlaw::toy
{
namespace
{
using host::QuadratureBatch;

std::vector<double> values(const at::Tensor & tensor)
{
  const auto doubles = tensor.to(at::kDouble).contiguous();
  return {doubles.const_data_ptr<double>(), doubles.const_data_ptr<double>() + doubles.numel()};
}

at::Tensor view(const double * data, std::vector<std::int64_t> shape)
{
  return at::from_blob(const_cast<double *>(data), shape, at::kDouble);
}

struct Batch
{
  explicit Batch(std::int64_t points, at::ScalarType dtype = at::kDouble)
      : law(dtype),
        model(law.load()),
        batch(model, points),
        inputs(toy_inputs(points))
  {
    batch.set_input("strain", values(inputs.at("strain")));
    batch.set_input("s", values(inputs.at("s")));
  }

  ToyLaw law;
  std::shared_ptr<Model> model;
  QuadratureBatch batch;
  TensorMap inputs;
};

TEST(QuadratureBatch, equals_the_law)
{
  Batch t(11);
  ASSERT_TRUE(t.batch.evaluate(true).ok());
  const auto expected = t.model->jacobian(t.inputs);
  EXPECT_TRUE(at::equal(view(t.batch.output("stress"), {11, 6}), expected.first.at("stress")));
  EXPECT_TRUE(at::equal(view(t.batch.tangent("stress", "strain"), {11, 6, 6}),
                        expected.second.at("stress").at("strain").expand({11, 6, 6})));
  EXPECT_EQ(t.batch.size("stress"), 6);
  EXPECT_EQ(t.batch.shape("s"), std::vector<std::int64_t>{});
  EXPECT_EQ(t.batch.verdict().status, std::vector<std::int8_t>(11, 0));
}

TEST(QuadratureBatch, needs_no_torch_in_its_host)
{
  Batch t(3);
  const auto strain = values(t.inputs.at("strain"));
  const auto stress = one_step(t.batch, strain);
  t.inputs["s"] = at::full({3}, 2.0, at::kDouble);
  EXPECT_EQ(stress, values(t.model->forward(t.inputs).at("stress")));
}

TEST(QuadratureBatch, commit_moves_the_state_and_a_failed_step_does_not)
{
  Batch t(9);
  ASSERT_TRUE(t.batch.evaluate().ok());
  const auto x = values(view(t.batch.output("x"), {9}));
  EXPECT_EQ(values(view(t.batch.state("x~1"), {9})), std::vector<double>(9, 1.0));
  t.batch.commit();
  EXPECT_EQ(values(view(t.batch.state("x~1"), {9})), x);

  auto s = values(t.inputs.at("s"));
  s[4] = -50.0;
  s[7] = std::numeric_limits<double>::infinity();
  t.batch.set_input("s", s);
  const auto & verdict = t.batch.evaluate();
  EXPECT_EQ(verdict.failed_rows, (std::vector<std::int64_t>{4, 7}));
  EXPECT_EQ(verdict.status[4], std::int8_t(Status::NOT_CONVERGED));
  EXPECT_EQ(verdict.status[7], std::int8_t(Status::BAD_INPUT));
  EXPECT_LT(verdict.dt_factor, 1.0);
  EXPECT_TRUE(std::isnan(t.batch.output("stress")[4 * 6]));
  EXPECT_TRUE(std::isfinite(t.batch.output("stress")[5 * 6]));
  EXPECT_THROW(t.batch.commit(), FatalError);
  t.batch.revert();
  EXPECT_EQ(values(view(t.batch.state("x~1"), {9})), x);
  // The inputs of the accepted step are back.
  EXPECT_TRUE(t.batch.evaluate().ok());
}

TEST(QuadratureBatch, saved_state_is_restored_bit_for_bit)
{
  Batch t(5);
  t.batch.evaluate();
  t.batch.commit();
  const auto bytes = t.batch.save();
  const auto x = values(view(t.batch.state("x~1"), {5}));
  QuadratureBatch again(t.model, 5);
  again.restore(bytes);
  EXPECT_EQ(values(view(again.state("x~1"), {5})), x);
  EXPECT_EQ(again.save(), bytes);
  QuadratureBatch other(t.model, 6);
  EXPECT_NE(fatal_error([&] { other.restore(bytes); }).find("5 points"), std::string::npos);
  auto damaged = bytes;
  damaged[damaged.size() / 2] ^= std::byte{1};
  EXPECT_NE(fatal_error([&] { again.restore(damaged); }).find("damaged"), std::string::npos);
}

TEST(QuadratureBatch, shared_values_outlive_the_batch)
{
  std::shared_ptr<const double> stress;
  std::vector<double> expected;
  {
    Batch t(2);
    t.batch.evaluate();
    stress = t.batch.share_output("stress");
    expected = values(view(t.batch.output("stress"), {2, 6}));
    EXPECT_EQ(stress.get(), t.batch.output("stress"));
  }
  EXPECT_EQ(std::vector<double>(stress.get(), stress.get() + 12), expected);
}

TEST(QuadratureBatch, converts_for_a_float32_law)
{
  Batch t(4, at::kFloat);
  ASSERT_TRUE(t.batch.evaluate(true).ok());
  const auto expected = toy_expected(t.inputs).at("stress");
  EXPECT_TRUE(at::allclose(view(t.batch.output("stress"), {4, 6}), expected, 1e-4, 1e-4));
}

TEST(QuadratureBatch, resizes)
{
  Batch t(4);
  t.batch.evaluate();
  t.batch.commit();
  const auto x = values(view(t.batch.state("x~1"), {4}));
  t.batch.resize(6);
  EXPECT_EQ(values(view(t.batch.state("x~1"), {6})), (std::vector<double>{x[0], x[1], x[2], x[3], 1.0, 1.0}));
  EXPECT_NE(fatal_error([&] { t.batch.evaluate(); }).find("was not set"), std::string::npos);
  t.batch.resize(0);
  EXPECT_EQ(t.batch.n_points(), 0);
}

TEST(QuadratureBatch, wrong_lengths_are_named)
{
  Batch t(4);
  const std::vector<double> short_by_one(23);
  EXPECT_NE(fatal_error([&] { t.batch.set_input("strain", short_by_one); }).find("takes 24 values (4 x 6), got 23"),
            std::string::npos);
  EXPECT_NE(fatal_error([&] { t.batch.set_input("strain", 1.0); }).find("takes 6 values"), std::string::npos);
  EXPECT_NE(fatal_error([&] { t.batch.set_input("x~1", short_by_one); }).find("x~1"), std::string::npos);
  EXPECT_NE(fatal_error([] { QuadratureBatch(nullptr, 1); }).find("no model"), std::string::npos);
}
}
}
