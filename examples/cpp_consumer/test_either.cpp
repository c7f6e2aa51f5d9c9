// One call loads both kinds of law: a host need not know which it was given.
#include <gtest/gtest.h>

#include <matlaw/load_model.h>

#include "first_step.h"

TEST(Either, input_file_and_stub_agree)
{
  const auto eager = matlaw::load_model(LAW, "model");
  const auto compiled = matlaw::load_model(STUB, "model", {.runtime = matlaw::Runtime::AOTI});
  EXPECT_EQ(eager->input_names(), compiled->input_names());
  const auto one = eager->forward(first_step(*eager, 20)).at("stress");
  const auto other = compiled->forward(first_step(*compiled, 20)).at("stress");
  EXPECT_TRUE(at::allclose(one, other, 1e-10, 1e-10));
}

TEST(Either, a_stub_can_be_run_from_its_source)
{
  const auto eager = matlaw::load_model(STUB, "model", {.runtime = matlaw::Runtime::EAGER});
  ASSERT_EQ(eager->derivative_pairs().size(), 1U) << "those that were compiled";
  EXPECT_TRUE(eager->evaluate(first_step(*eager, 4), {.jacobian = true}).ok());
}

TEST(Either, an_input_file_can_be_refused)
{
  EXPECT_THROW(matlaw::load_model(LAW, "model", {.runtime = matlaw::Runtime::AOTI}), matlaw::FatalError);
}
