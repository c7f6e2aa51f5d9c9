// A law with a sub-batch axis, from its input file, from the source in its artifact, and compiled.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <unistd.h>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "matlaw/eager/load_model.h"
#include "matlaw/load_model.h"

namespace
{
using namespace matlaw;
namespace fs = std::filesystem;

using Shapes = std::vector<std::vector<std::int64_t>>;

const std::string grains = std::string(MATLAW_TEST_DATA) + "/relaxing_grains.i";

struct InputFile
{
  static std::unique_ptr<Model> load() { return load_model(grains, "model"); }
};

/// Both need the artifact.
std::string stub()
{
  const char * folder = std::getenv("MATLAW_TEST_ARTIFACTS");
  return folder ? (fs::path(folder) / "relaxing_grains-native" / "model_aoti.i").string() : "";
}

struct Source
{
  static std::unique_ptr<Model> load() { return load_model(stub(), "model", {.runtime = Runtime::EAGER}); }
};

struct Compiled
{
  static std::unique_ptr<Model> load() { return load_model(stub(), "model", {.runtime = Runtime::AOTI}); }
};

at::Tensor numbers(std::vector<std::int64_t> shape, double scale)
{
  std::int64_t size = 1;
  for (const auto n : shape)
    size *= n;
  return at::sin(scale * at::arange(size, at::kDouble)).reshape(shape);
}

TensorMap step(std::int64_t rows)
{
  return {{"strain", numbers({rows, 6}, 0.7)},
          {"creep~1", numbers({rows, 5, 6}, 1.3)},
          {"t", at::full({rows}, 1.5, at::kDouble)},
          {"t~1", at::full({rows}, 1.0, at::kDouble)}};
}

template <typename Action>
void expect_refusal(Action && action, const std::string & part)
{
  try
  {
    action();
    ADD_FAILURE() << "nothing was thrown; expected '" << part << "'";
  }
  catch (const FatalError & e)
  {
    EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << "'" << part << "' is not in: " << e.what();
  }
}

template <typename Route>
class SubBatch : public ::testing::Test
{
protected:
  void SetUp() override
  {
    if (!std::is_same_v<Route, InputFile> && stub().empty())
      GTEST_SKIP() << "set MATLAW_TEST_ARTIFACTS to the folder that tests/artifacts.py writes";
    law = Route::load();
  }

  std::unique_ptr<Model> law;
};

using Routes = ::testing::Types<InputFile, Source, Compiled>;
TYPED_TEST_SUITE(SubBatch, Routes);

TYPED_TEST(SubBatch, extents_are_known_before_the_first_call)
{
  const auto & law = *this->law;
  EXPECT_EQ(law.input_names(), (std::vector<std::string>{"strain", "creep~1", "t", "t~1"}));
  EXPECT_EQ(law.input_base_shapes(), (Shapes{{6}, {6}, {}, {}}));
  EXPECT_EQ(law.input_sub_batch_shapes(), (Shapes{{}, {5}, {}, {}}));
  EXPECT_EQ(law.output_names(), (std::vector<std::string>{"mean_creep", "creep"}));
  EXPECT_EQ(law.output_base_shapes(), (Shapes{{6}, {6}}));
  EXPECT_EQ(law.output_sub_batch_shapes(), (Shapes{{}, {5}}));
}

TYPED_TEST(SubBatch, values)
{
  for (const std::int64_t rows : {1, 3, 20})
  {
    const auto inputs = step(rows);
    const auto outputs = this->law->forward(inputs);
    const auto creep = (inputs.at("creep~1") + 0.5 * inputs.at("strain").unsqueeze(1)) / 1.5;
    ASSERT_EQ(outputs.at("creep").sizes(), (at::IntArrayRef{rows, 5, 6}));
    ASSERT_EQ(outputs.at("mean_creep").sizes(), (at::IntArrayRef{rows, 6}));
    EXPECT_TRUE(outputs.at("creep").is_contiguous());
    EXPECT_TRUE(at::allclose(outputs.at("creep"), creep, 1e-12, 1e-14));
    EXPECT_TRUE(at::allclose(outputs.at("mean_creep"), creep.mean(1), 1e-12, 1e-14));
  }
}

TYPED_TEST(SubBatch, derivatives_of_plain_variables)
{
  const auto inputs = step(4);
  const auto unit = at::eye(6, at::kDouble) / 3.0;
  const auto result =
      this->law->evaluate(inputs, {.jacobian = true, .pairs = {{.output = "mean_creep", .input = "strain"}}});
  ASSERT_TRUE(result.ok());
  const auto & block = result.jacobian.at("mean_creep").at("strain");
  EXPECT_TRUE(at::allclose(block.expand({4, 6, 6}), unit.expand({4, 6, 6}), 1e-12, 1e-14));
  const auto tangent = numbers({4, 6}, 2.1);
  const auto along = this->law->jvp(inputs, {{"strain", tangent}}).second;
  EXPECT_TRUE(at::allclose(along.at("mean_creep"), tangent / 3.0, 1e-12, 1e-14));
}

TYPED_TEST(SubBatch, an_extent_of_one_stands_for_all_sites)
{
  auto inputs = step(3);
  inputs["creep~1"] = numbers({3, 1, 6}, 1.3);
  auto repeated = inputs;
  repeated["creep~1"] = inputs.at("creep~1").expand({3, 5, 6}).contiguous();
  EXPECT_TRUE(at::equal(this->law->forward(inputs).at("creep"), this->law->forward(repeated).at("creep")));
}

TYPED_TEST(SubBatch, what_does_not_carry_the_extent_is_refused)
{
  for (const auto & shape : Shapes{{3, 4, 6}, {6}, {3, 5, 5}})
  {
    auto inputs = step(3);
    inputs["creep~1"] = numbers(shape, 1.3);
    expect_refusal([&] { this->law->forward(inputs); }, "creep~1");
  }
  expect_refusal([&] { this->law->jvp(step(3), {{"creep~1", step(3).at("creep~1")}}); }, "creep~1");
}

TYPED_TEST(SubBatch, a_bad_site_fails_its_row_only)
{
  auto inputs = step(3);
  inputs.at("creep~1")[1][4][2] = std::numeric_limits<double>::quiet_NaN();
  const auto result = this->law->evaluate(inputs);
  EXPECT_EQ(result.failed_rows, (std::vector<std::int64_t>{1}));
  EXPECT_TRUE(at::isfinite(result.outputs.at("creep")[2]).all().template item<bool>());
}

/// The input file with `from` replaced by `to`.
class Declaration
{
public:
  Declaration(const std::string & from, const std::string & to)
      : _path(fs::temp_directory_path() / ("matlaw-declaration-" + std::to_string(::getpid()) + ".i"))
  {
    std::ostringstream text;
    text << std::ifstream(grains).rdbuf();
    auto changed = text.str();
    changed.replace(changed.find(from), from.size(), to);
    std::ofstream(_path) << changed;
  }
  ~Declaration() { fs::remove(_path); }
  std::string path() const { return _path.string(); }

private:
  fs::path _path;
};

TEST(SubBatchDeclaration, an_unknown_name_fails_the_load)
{
  const Declaration wrong("creep = '(2; 5)'", "creeep = '(2; 5)'");
  expect_refusal([&] { eager::load_model(wrong.path(), "model"); }, "creeep");
}

TEST(SubBatchDeclaration, any_extent_may_be_declared)
{
  const Declaration two("'(2; 5)'", "'(2; 2)'");
  const auto law = eager::load_model(two.path(), "model");
  EXPECT_EQ(law.output_sub_batch_shapes(), (Shapes{{}, {2}}));
  auto inputs = step(3);
  expect_refusal([&] { law.forward(inputs); }, "creep~1");
  inputs["creep~1"] = numbers({3, 2, 6}, 1.3);
  EXPECT_EQ(law.forward(inputs).at("creep").sizes(), (at::IntArrayRef{3, 2, 6}));
}

TEST(SubBatchDeclaration, blocks_of_sub_batched_outputs_carry_their_axes)
{
  const auto law = eager::load_model(grains, "model");
  const auto [outputs, blocks] = law.jacobian(step(3));
  EXPECT_EQ(blocks.at("creep").at("strain").sizes(), (at::IntArrayRef{3, 5, 6, 6}));
  EXPECT_EQ(blocks.at("creep").at("t").sizes(), (at::IntArrayRef{3, 5, 6}));
  EXPECT_FALSE(blocks.at("creep").count("creep~1")) << "sub-batched inputs are held fixed";
}

TEST(SubBatchDeclaration, derivatives_by_parameters_carry_the_axes_of_outputs)
{
  auto law = eager::load_model(grains, "model");
  const auto blocks = law.param_jacobian(step(3)).at("creep");
  const auto cotangent = numbers({3, 5, 6}, 0.9);
  const auto gradients = law.param_vjp(step(3), {{"creep", cotangent}});
  const auto parameters = law.named_parameters();
  std::size_t checked = 0;
  for (const auto & [name, value] : parameters)
  {
    auto shape = std::vector<std::int64_t>{3, 5, 6};
    shape.insert(shape.end(), value.sizes().begin(), value.sizes().end());
    ASSERT_EQ(blocks.at(name).sizes().vec(), shape) << name;
    if (value.dim() > 0)
      continue;
    EXPECT_TRUE(at::allclose(gradients.at(name), (blocks.at(name) * cotangent).sum(), 1e-10)) << name;
    const auto creep_at = [&](double change)
    {
      law.set_parameter(name, value + change);
      auto creep = law.forward(step(3)).at("creep");
      law.set_parameter(name, value);
      return creep;
    };
    const double h = 1e-5;
    const auto slope = (creep_at(h) - creep_at(-h)) / (2 * h);
    EXPECT_TRUE(at::allclose(blocks.at(name), slope, 1e-5, 1e-7 * slope.abs().max().item<double>())) << name;
    checked++;
  }
  EXPECT_GT(checked, 0u);
}
}
