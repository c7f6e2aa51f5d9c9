// What a host learns of a law without torch.
#include <string>

#include <gtest/gtest.h>

#include "matlaw/Model.h"
#include "matlaw/errors.h"
#include "matlaw/host/Law.h"
#include "matlaw/host/QuadratureBatch.h"
#include "torch_free/torch_free_host.h"
#include "toy_law.h"

namespace matlaw::toy
{
namespace
{
TEST(Law, is_described)
{
  ToyLaw toy;
  const auto model = toy.load();
  const auto law = host::describe(*model);
  ASSERT_NE(law.input("strain"), nullptr);
  EXPECT_EQ(law.input("strain")->type, "SR2");
  EXPECT_EQ(law.input("strain")->size(), 6);
  EXPECT_EQ(law.input("s")->size(), 1);
  EXPECT_EQ(law.output("no such output"), nullptr);
  EXPECT_TRUE(law.has_derivative("stress", "strain"));
  EXPECT_FALSE(law.has_derivative("strain", "stress"));
  for (const auto & state : law.states)
  {
    EXPECT_TRUE(law.is_old(state.old));
    EXPECT_EQ(static_cast<std::int64_t>(state.initial.size()), law.input(state.old)->size());
  }
  EXPECT_NE(law.text().find("strain (SR2)"), std::string::npos);
}

TEST(Law, strain_and_stress_are_found)
{
  ToyLaw toy;
  const auto law = host::describe(*toy.load());
  EXPECT_EQ(law.strain(""), "strain");
  EXPECT_EQ(law.strain("strain"), "strain");
  EXPECT_EQ(law.stress("stress"), "stress");
  EXPECT_THROW(law.strain("s"), FatalError);
  try
  {
    law.stress("strss");
    FAIL() << "a stress that the law does not have";
  }
  catch (const FatalError & error)
  {
    EXPECT_NE(std::string(error.what()).find("'strss'"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("stress (SR2)"), std::string::npos);
  }
}

TEST(Law, ambiguity_is_an_error)
{
  host::LawDescription law;
  law.inputs = {{"a", "SR2", {6}, {}}, {"b", "SR2", {6}, {}}};
  EXPECT_THROW(law.strain(""), FatalError);
  law.derivatives = {{"stress", "b"}};
  EXPECT_EQ(law.strain(""), "b");
}

TEST(Law, load_law_names_what_is_wrong)
{
  host::LawOptions options;
  options.device = "gpus";
  EXPECT_THROW(host::load_law("missing.i", "model", options), FatalError);
  options = {};
  options.runtime = "fast";
  EXPECT_THROW(host::load_law("missing.i", "model", options), FatalError);
  EXPECT_THROW(host::load_law("missing.i", "model"), FatalError);
}
}
}
