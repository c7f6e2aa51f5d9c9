// The law as production runs it: compiled, no Python.
#include <gtest/gtest.h>

#include <matlaw/host/QuadratureBatch.h>
#include <matlaw/load_model.h>

#include "first_step.h"

TEST(Compiled, yields_and_flows)
{
  const auto law = matlaw::load_model(LAW, "model", {.runtime = matlaw::Runtime::AOTI});
  const auto result = law->evaluate(first_step(*law, 50), {.jacobian = true});
  ASSERT_TRUE(result.ok());
  const auto flow = result.outputs.at("equivalent_plastic_strain");
  EXPECT_EQ(flow[0].item<double>(), 0.0) << "elastic at a small strain";
  EXPECT_GT(flow[49].item<double>(), 1e-5);
  // Past yield the material is softer along the load than before.
  const auto stiffness = result.jacobian.at("stress").at("strain").select(1, 0).select(1, 0);
  EXPECT_LT(stiffness[49].item<double>(), 0.99 * stiffness[0].item<double>());
}

TEST(Compiled, keeps_its_state_in_a_batch)
{
  matlaw::host::QuadratureBatch points(matlaw::load_model(LAW, "model"), 2);
  const std::vector<double> strain = {2e-3, 0, 0, 0, 0, 0, 2.5e-3, 0, 0, 0, 0, 0};
  points.set_input("strain", strain);
  points.set_input("t", 1.0);
  ASSERT_TRUE(points.evaluate(true).ok());
  points.commit();
  EXPECT_GT(points.state("equivalent_plastic_strain~1")[0], 0.0);
  EXPECT_GT(points.state("equivalent_plastic_strain~1")[1], points.state("equivalent_plastic_strain~1")[0]);
}
