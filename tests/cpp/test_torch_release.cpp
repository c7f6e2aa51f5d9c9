#include <dlfcn.h>

#include <gtest/gtest.h>
#include <torch/headeronly/version.h>

#include "matlaw/torch_release.h"
#include "toy_law.h"

using namespace matlaw;
using namespace matlaw::toy;

TEST(TorchRelease, that_of_the_headers_is_recorded_and_found)
{
  EXPECT_EQ(torch_release(), std::to_string(TORCH_VERSION_MAJOR) + "." + std::to_string(TORCH_VERSION_MINOR));
  EXPECT_NO_THROW(check_torch_release());
}

/// Where the library of other_torch.cmake is preloaded.
TEST(OtherTorch, is_refused_by_name_when_a_law_is_loaded)
{
  if (!dlsym(RTLD_DEFAULT, "matlaw_other_torch"))
    GTEST_SKIP() << "this process has one torch only";
  const ToyLaw law;
  EXPECT_PRED_FORMAT2(
      mentions, load_error(law.stub().string()),
      (Words{"built for torch " + torch_release(), "loaded torch 2.12", "Install torch", "rebuild matlaw"}));
}
