// A compiled law that does not fit this machine is run from the source in its artifact, and that is said.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>

#include <unistd.h>

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "matlaw/eager/Model.h"
#include "matlaw/load_model.h"
#include "support/sha256.h"

namespace
{
using namespace matlaw;
namespace fs = std::filesystem;
using nlohmann::json;

/// A copy of a shared artifact whose metadata a test changes; sealed again, as a compiler would have written it.
class Fallback : public ::testing::Test
{
protected:
  void SetUp() override
  {
    const char * artifacts = std::getenv("MATLAW_TEST_ARTIFACTS");
    if (!artifacts)
      GTEST_SKIP() << "set MATLAW_TEST_ARTIFACTS to the folder that tests/artifacts.py writes";
    _place = fs::temp_directory_path() / ("matlaw-fallback-" + std::to_string(::getpid()));
    fs::remove_all(_place);
    fs::copy(fs::path(artifacts) / "linear_elastic-native", _place, fs::copy_options::recursive);
  }

  void TearDown() override
  {
    if (!_place.empty())
      fs::remove_all(_place);
  }

  void edit(const std::function<void(json &)> & change) const
  {
    auto metadata = json::parse(read(folder() / "metadata.json"));
    change(metadata);
    const std::string zeros(64, '0');
    metadata["metadata_sha256"] = zeros;
    auto text = metadata.dump();
    text.replace(text.find(zeros), 64, support::sha256(text));
    std::ofstream(folder() / "metadata.json") << text;
  }

  static std::string read(const fs::path & path)
  {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  fs::path folder() const { return _place / "model"; }
  std::string stub() const { return (_place / "model_aoti.i").string(); }

  std::string refusal(const LoadOptions & options = {}) const
  {
    try
    {
      load_model(stub(), "model", options);
    }
    catch (const FatalError & e)
    {
      return e.what();
    }
    ADD_FAILURE() << "nothing was thrown";
    return "";
  }

  /// Loads with the default options, which have to fall back, and returns what was said on stderr.
  std::string said_while_falling_back(const std::string & path) const
  {
    ::testing::internal::CaptureStderr();
    const auto law = load_model(path, "model");
    const auto said = ::testing::internal::GetCapturedStderr();
    EXPECT_NE(dynamic_cast<const eager::Model *>(law.get()), nullptr);
    const auto strain = at::full({3, 6}, 1e-3, at::kDouble);
    const auto result = law->evaluate({{"strain", strain}}, {.jacobian = true});
    EXPECT_TRUE(result.ok());
    // Hooke: the shear component is 2 mu times the strain, E = 200000 and nu = 0.3.
    EXPECT_NEAR(result.outputs.at("stress")[1][4].item<double>(), 200000. / 1.3 * 1e-3, 1e-9);
    return said;
  }

private:
  fs::path _place;
};

bool contains(const std::string & text, const std::string & part)
{
  return text.find(part) != std::string::npos;
}

TEST_F(Fallback, other_torch_is_announced_once)
{
  edit([](json & m) { m["torch_version"] = "2.12.1"; });
  const auto said = said_while_falling_back(stub());
  EXPECT_TRUE(contains(said, "torch 2.12.1")) << said;
  EXPECT_TRUE(contains(said, "evaluated by Python")) << said;
  EXPECT_EQ(said_while_falling_back(stub()), "");
  EXPECT_TRUE(contains(refusal({.fallback = matlaw::Fallback::NONE}), "torch 2.12.1"));
  EXPECT_TRUE(contains(refusal({.runtime = Runtime::AOTI}), "torch 2.12.1"));
}

TEST_F(Fallback, foreign_cpu)
{
  edit([](json & m) { m["builds"]["cpu/float64"]["cpu_targets"] = {"x86-64-v9"}; });
  EXPECT_TRUE(contains(said_while_falling_back(folder().string()), "x86-64-v9"));
}

TEST_F(Fallback, newer_c_library)
{
  edit([](json & m) { m["builds"]["cpu/float64"]["glibc_floor"] = "2.999"; });
  EXPECT_TRUE(contains(said_while_falling_back((folder() / "metadata.json").string()), "glibc 2.999"));
}

TEST_F(Fallback, no_build_for_the_device)
{
  edit(
      [](json & m)
      {
        m["builds"]["cuda/float64"] = m["builds"]["cpu/float64"];
        m["builds"].erase("cpu/float64");
      });
  EXPECT_TRUE(contains(said_while_falling_back(stub()), "no build for cpu/float64"));
}

TEST_F(Fallback, build_left_behind)
{
  fs::remove_all(folder() / "cpu");
  EXPECT_TRUE(contains(said_while_falling_back(stub()), "copied without its build"));
}

TEST_F(Fallback, a_stub_without_its_folder_says_what_is_missing)
{
  fs::rename(folder(), folder().string() + "_elsewhere");
  for (const auto runtime : {Runtime::AUTO, Runtime::AOTI, Runtime::EAGER})
  {
    const auto message = refusal({.runtime = runtime});
    for (const std::string & part : {stub(), folder().string(), std::string("'linear_elastic.i'"),
                                     std::string("matlaw-compile linear_elastic.i --model model")})
      EXPECT_TRUE(contains(message, part)) << "'" << part << "' is not in " << message;
  }
}

TEST_F(Fallback, damaged_artifacts_are_refused)
{
  edit([](json & m) { m["torch_version"] = "2.12.1"; });
  auto text = read(folder() / "metadata.json");
  text.replace(text.find("200000"), 6, "100000");
  std::ofstream(folder() / "metadata.json") << text;
  const auto message = refusal();
  EXPECT_TRUE(contains(message, "torch 2.12.1") && contains(message, "edited")) << message;
  EXPECT_TRUE(contains(refusal({.runtime = Runtime::EAGER}), "edited"));
}

TEST_F(Fallback, a_truncated_kernel_is_refused)
{
  for (const auto & entry : fs::recursive_directory_iterator(folder()))
    if (entry.path().extension() == ".so")
      fs::resize_file(entry.path(), 100);
  EXPECT_TRUE(contains(refusal(), "100 bytes"));
}

TEST_F(Fallback, source_that_cannot_be_run_here_says_why)
{
  edit(
      [](json & m)
      {
        m["torch_version"] = "2.12.1";
        m["source"]["text"] = "[Models]\n  [model]\n    type = LawOfAnotherMachine\n  []\n[]\n";
        m["source"]["sha256"] = support::sha256(m["source"]["text"].get<std::string>());
      });
  const auto message = refusal();
  EXPECT_TRUE(contains(message, "torch 2.12.1") && contains(message, "LawOfAnotherMachine")) << message;
}

TEST_F(Fallback, keeps_the_names_and_derivatives_of_the_artifact)
{
  edit(
      [](json & m)
      {
        m["torch_version"] = "2.12.1";
        m["boundary_aliases"] = {{"inputs", {{"strain", "eps"}}}, {"outputs", {{"stress", "sig"}}}};
      });
  const auto law = load_model(stub(), "model");
  EXPECT_EQ(law->input_names(), std::vector<std::string>{"eps"});
  EXPECT_EQ(law->output_names(), std::vector<std::string>{"sig"});
  ASSERT_EQ(law->derivative_pairs().size(), 1U);
  EXPECT_EQ(law->derivative_pairs()[0].output, "sig");
  EXPECT_EQ(law->derivative_pairs()[0].input, "eps");
  EXPECT_TRUE(law->named_parameters().empty()) << "none was promoted";
  const auto strain = at::full({2, 6}, 1e-3, at::kDouble);
  const auto [outputs, blocks] = law->jacobian({{"eps", strain}});
  EXPECT_TRUE(
      at::allclose(at::matmul(blocks.at("sig").at("eps"), strain.unsqueeze(-1)).squeeze(-1), outputs.at("sig")));
  EXPECT_TRUE(at::allclose(law->jvp({{"eps", strain}}, {{"eps", strain}}).second.at("sig"), outputs.at("sig")));
  try
  {
    law->forward({{"strain", strain}});
    ADD_FAILURE() << "nothing was thrown";
  }
  catch (const FatalError & e)
  {
    EXPECT_TRUE(contains(e.what(), "eps")) << e.what();
  }
}
}
