// Batches beyond one step of all points: some points, changing meshes, parameters, hypotheses, several laws.
#include <cmath>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "matlaw/host/BatchGroup.h"
#include "matlaw/host/QuadratureBatch.h"
#include "matlaw/load_model.h"
#include "toy_law.h"

namespace matlaw::toy
{
namespace
{
using host::BatchGroup;
using host::Hypothesis;
using host::QuadratureBatch;
using Numbers = std::vector<double>;
using Points = std::vector<std::int64_t>;

constexpr std::int64_t n = 7;

Numbers numbers(const at::Tensor & tensor)
{
  const auto doubles = tensor.to(at::kDouble).contiguous();
  return {doubles.const_data_ptr<double>(), doubles.const_data_ptr<double>() + doubles.numel()};
}

Numbers numbers(const double * data, std::int64_t count)
{
  return {data, data + count};
}

/// Values of some rows.
Numbers rows(const Numbers & values, std::int64_t size, const Points & points)
{
  Numbers chosen;
  for (const auto point : points)
    chosen.insert(chosen.end(), values.begin() + point * size, values.begin() + (point + 1) * size);
  return chosen;
}

struct Toy
{
  ToyLaw law;
  std::shared_ptr<Model> model = law.load();
  TensorMap inputs = toy_inputs(n);
  Numbers strain = numbers(inputs.at("strain"));
  Numbers s = numbers(inputs.at("s"));

  QuadratureBatch batch() const
  {
    QuadratureBatch batch(model, n);
    batch.set_input("strain", strain);
    batch.set_input("s", s);
    return batch;
  }
};

TEST(QuadraturePoints, parts_give_the_bits_of_the_whole)
{
  Toy toy;
  auto whole = toy.batch();
  auto parts = toy.batch();
  ASSERT_TRUE(whole.evaluate(true).ok());
  EXPECT_EQ(parts.evaluate_range(0, 3, true).status.size(), 3U);
  EXPECT_TRUE(std::isnan(parts.output("x")[6]));
  EXPECT_NE(fatal_error([&] { parts.commit(); }).find("4 points (the first is 3)"), std::string::npos);
  ASSERT_TRUE(parts.evaluate_points(Points{6, 3, 5, 4}, true).ok());
  EXPECT_EQ(numbers(parts.output("stress"), 6 * n), numbers(whole.output("stress"), 6 * n));
  EXPECT_EQ(numbers(parts.tangent("stress", "strain"), 36 * n), numbers(whole.tangent("stress", "strain"), 36 * n));
  whole.commit();
  parts.commit();
  EXPECT_EQ(parts.save(), whole.save());
}

TEST(QuadraturePoints, failed_rows_are_numbers_of_the_batch)
{
  Toy toy;
  auto batch = toy.batch();
  batch.set_input("s", Points{5}, Numbers{-50.0});
  EXPECT_EQ(batch.evaluate_points(Points{5, 2}).failed_rows, Points{5});
  EXPECT_TRUE(batch.evaluate_range(0, 5).ok());
  EXPECT_NE(fatal_error([&] { batch.evaluate_points(Points{7}); }).find("no point 7"), std::string::npos);
  EXPECT_NE(fatal_error([&] { batch.evaluate_points(Points{1, 1}); }).find("listed twice"), std::string::npos);
  EXPECT_NE(fatal_error([&] { batch.evaluate_range(3, 9); }).find("[3, 9)"), std::string::npos);
}

TEST(QuadraturePoints, remap_moves_state_and_inputs)
{
  Toy toy;
  auto batch = toy.batch();
  batch.evaluate();
  batch.commit();
  const auto x = numbers(batch.state("x~1"), n);
  batch.evaluate();
  const auto stress = numbers(batch.output("stress"), 6 * n);
  const Points from = {6, 0, 0, 3};
  batch.remap(from);
  EXPECT_EQ(numbers(batch.state("x~1"), 4), rows(x, 1, from));
  ASSERT_TRUE(batch.evaluate().ok());
  EXPECT_EQ(numbers(batch.output("stress"), 24), rows(stress, 6, from));
  batch.remap(Points{1, -1});
  EXPECT_EQ(numbers(batch.state("x~1"), 2), (Numbers{x[0], 1.0}));
  batch.set_state("x~1", Points{1}, Numbers{3.0});
  EXPECT_EQ(batch.state("x~1")[1], 3.0);
  EXPECT_NE(fatal_error([&] { batch.evaluate(); }).find("was not set"), std::string::npos);
  EXPECT_NE(fatal_error([&] { batch.remap(Points{2}); }).find("cannot take the state of point 2"), std::string::npos);
}

TEST(QuadraturePoints, parameters_are_of_the_batch)
{
  Toy toy;
  auto batch = toy.batch();
  batch.evaluate();
  const auto stress = numbers(batch.output("stress"), 6 * n);
  ASSERT_EQ(batch.parameter_size("gain"), 1);
  Numbers gain(n);
  std::iota(gain.begin(), gain.end(), 1.0);
  batch.set_parameter("gain", gain);
  ASSERT_TRUE(batch.evaluate(true).ok());
  for (std::int64_t i = 0; i < 6 * n; ++i)
    EXPECT_DOUBLE_EQ(batch.output("stress")[i], double(i / 6 + 1) * stress[std::size_t(i)]);
  EXPECT_EQ(numbers(toy.model->forward(toy.inputs).at("stress")), stress) << "the law is as before";
  batch.set_parameter("gain", Numbers{2.0});
  batch.evaluate_points(Points{4, 1});
  EXPECT_DOUBLE_EQ(batch.output("stress")[6], 2.0 * stress[6]);
  EXPECT_NE(fatal_error([&] { batch.set_parameter("gain", Numbers(3)); }).find("takes 7 values"), std::string::npos);
}

TEST(QuadraturePoints, a_group_shares_out_the_points)
{
  Toy toy;
  BatchGroup group(n);
  const Points even = {0, 2, 4, 6};
  const Points odd = {5, 3, 1};
  group.add("even", toy.model, even);
  EXPECT_NE(fatal_error([&] { group.evaluate(); }).find("point 1 has no law"), std::string::npos);
  group.add("odd", toy.model, odd);
  auto whole = toy.batch();
  whole.evaluate(true);
  group.set_input("strain", toy.strain);
  group.set_input("s", toy.s);
  ASSERT_TRUE(group.evaluate(true).ok());
  Numbers stress(6 * n);
  Numbers tangent(36 * n);
  group.output("stress", stress);
  group.tangent("stress", "strain", tangent);
  EXPECT_EQ(stress, numbers(whole.output("stress"), 6 * n));
  EXPECT_EQ(tangent, numbers(whole.tangent("stress", "strain"), 36 * n));
  group.commit();
  whole.commit();
  EXPECT_EQ(numbers(group.batch("odd").state("x~1"), 3), rows(numbers(whole.state("x~1"), n), 1, odd));

  const auto saved = group.save();
  auto bad = toy.s;
  bad[3] = -50.0;
  group.set_input("s", bad);
  EXPECT_EQ(group.evaluate().failed_rows, Points{3});
  EXPECT_THROW(group.commit(), FatalError);
  EXPECT_EQ(group.save(), saved);
  group.revert();
  BatchGroup again(n);
  again.add("even", toy.model, even);
  again.add("odd", toy.model, odd);
  again.restore(saved);
  EXPECT_EQ(again.save(), saved);
}

TEST(QuadraturePoints, hypotheses_reduce_strain_and_stress)
{
  const char * folder = std::getenv("MATLAW_TEST_ARTIFACTS");
  if (!folder)
    GTEST_SKIP() << "set MATLAW_TEST_ARTIFACTS to the folder that tests/artifacts.py writes";
  const std::shared_ptr<Model> law =
      load_model((std::filesystem::path(folder) / "linear_elastic-native" / "model_aoti.i").string(), "model");
  constexpr double young = 200000.0;
  constexpr double nu = 0.3;
  QuadratureBatch plate(law, 2, {.hypothesis = Hypothesis::PLANE_STRESS});
  EXPECT_EQ(plate.shape("strain"), (std::vector<std::int64_t>{3}));
  EXPECT_EQ(plate.kinematics().strain, "strain");
  plate.set_input("strain", Numbers{1e-3, 0.0, 0.0, 0.0, 0.0, 2e-3});
  ASSERT_TRUE(plate.evaluate(true).ok());
  const double c = young / (1 - nu * nu);
  const Numbers expected = {c, c * nu, 0, c * nu, c, 0, 0, 0, c * (1 - nu)};
  for (std::size_t i = 0; i < 9; ++i)
    EXPECT_NEAR(plate.tangent("stress", "strain")[i], expected[i], 1e-9 * young);
  EXPECT_NEAR(plate.output("stress")[0], 1e-3 * c, 1e-9 * young);
  EXPECT_NEAR(plate.output("stress")[5], 2e-3 * c * (1 - nu), 1e-9 * young);
  EXPECT_NEAR(plate.full_strain()[2], -nu / (1 - nu) * 1e-3, 1e-12);
  EXPECT_NEAR(plate.full_stress()[2], 0.0, 1e-9 * young);

  QuadratureBatch bar(law, 1, {.hypothesis = Hypothesis::UNIAXIAL_STRESS});
  bar.set_input("strain", Numbers{1e-3});
  ASSERT_TRUE(bar.evaluate(true).ok());
  EXPECT_NEAR(bar.output("stress")[0], 1e-3 * young, 1e-9 * young);
  EXPECT_NEAR(bar.tangent("stress", "strain")[0], young, 1e-9 * young);
  EXPECT_EQ(host::hypothesis_from_text("plane_stress"), Hypothesis::PLANE_STRESS);
  EXPECT_NE(fatal_error([] { host::hypothesis_from_text("flat"); }).find("'axisymmetric'"), std::string::npos);
}
}
}
