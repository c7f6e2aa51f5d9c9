// The law straight from its input file: for unit tests, where a compile step would be in the way.
#include <gtest/gtest.h>

#include <matlaw/eager/load_model.h>

#include "first_step.h"

TEST(Eager, yields_and_flows)
{
  const auto law = matlaw::eager::load_model(LAW, "model");
  const auto outputs = law.forward(first_step(law, 50));
  EXPECT_EQ(outputs.at("equivalent_plastic_strain")[0].item<double>(), 0.0) << "elastic at a small strain";
  EXPECT_GT(outputs.at("equivalent_plastic_strain")[49].item<double>(), 1e-5);
}

TEST(Eager, tells_a_small_step_from_a_mistake)
{
  const auto law = matlaw::eager::load_model(LAW, "model");
  auto inputs = first_step(law, 3);
  inputs.at("strain")[1].fill_(1e5);
  try
  {
    law.forward(inputs);
    FAIL() << "row 1 cannot converge";
  }
  catch (const matlaw::ConvergenceError & e)
  {
    EXPECT_TRUE(e.recoverable());
    EXPECT_EQ(e.failed_rows(), std::vector<std::int64_t>{1});
  }
  inputs.erase("strain");
  EXPECT_THROW(law.forward(inputs), matlaw::FatalError);
}
