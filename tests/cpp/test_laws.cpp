// Real laws, compiled by matlaw-compile, on both backends.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <thread>

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "graph/Graph.h"
#include "toy_law.h"

using namespace matlaw;
using namespace matlaw::toy;
namespace fs = std::filesystem;

namespace
{
struct Case
{
  std::string artifact;
  Backend backend;
  bool implicit;
};

/// Empty when the tests run without artifacts.
fs::path artifacts()
{
  const char * folder = std::getenv("MATLAW_TEST_ARTIFACTS");
  return folder ? fs::path(folder) : fs::path();
}

/// Strains that strain the law a little, zero old state, time from 0 to 1.
TensorMap law_inputs(const Model & law, std::int64_t rows)
{
  TensorMap inputs;
  for (std::size_t k = 0; k < law.input_names().size(); k++)
  {
    const auto & name = law.input_names()[k];
    std::vector<std::int64_t> shape = {rows};
    shape.insert(shape.end(), law.input_base_shapes()[k].begin(), law.input_base_shapes()[k].end());
    auto value = name == "t" ? at::ones(shape, at::kDouble) : at::zeros(shape, at::kDouble);
    if (name == "strain")
      value = 1e-3 * at::sin(at::arange(rows * 6, at::kDouble).reshape({rows, 6}) * 0.7);
    inputs[name] = value;
  }
  return inputs;
}

double difference(const at::Tensor & a, const at::Tensor & b)
{
  return a.sizes() == b.sizes() && a.numel() ? (a - b).abs().max().item<double>() : a.sizes() == b.sizes() ? 0.0 : NAN;
}

/// The same bits with native kernels, to 1e-14 of the largest number with packages.
bool same_rows(const at::Tensor & a, const at::Tensor & b, Backend backend)
{
  if (backend == Backend::NATIVE)
    return same_bits(a, b);
  return difference(a, b) <= (b.numel() ? 1e-14 * b.abs().max().item<double>() : 0.0);
}

class Law : public ::testing::TestWithParam<Case>
{
protected:
  void SetUp() override
  {
    if (artifacts().empty())
      GTEST_SKIP() << "set MATLAW_TEST_ARTIFACTS to the folder that tests/artifacts.py writes";
  }
  static std::string stub() { return (artifacts() / GetParam().artifact / "model_aoti.i").string(); }
  static std::unique_ptr<Model> load(std::int64_t threads = 0)
  {
    return load_model(stub(), "model", {.backend = GetParam().backend, .threads = threads});
  }
};

TensorMap rows_of(const TensorMap & inputs, const at::Tensor & rows)
{
  TensorMap selected;
  for (const auto & [name, value] : inputs)
    selected[name] = value.index_select(0, rows);
  return selected;
}
}

TEST_P(Law, runs_any_number_of_rows)
{
  const auto model = load();
  const auto reference = model->evaluate(law_inputs(*model, 17), {.jacobian = true});
  for (const std::int64_t rows : {0, 1, 2, 3, 17, 4099})
  {
    const auto result = model->evaluate(law_inputs(*model, rows), {.jacobian = true});
    EXPECT_TRUE(result.ok()) << rows;
    const auto common = std::min<std::int64_t>(rows, 17);
    for (const auto & [name, value] : result.outputs)
      EXPECT_TRUE(
          same_rows(value.narrow(0, 0, common), reference.outputs.at(name).narrow(0, 0, common), GetParam().backend))
          << rows << " " << name;
    const bool constant = model->derivative_pairs().front().batch_independent;
    EXPECT_EQ(constant, !GetParam().implicit);
    const std::vector<std::int64_t> one = {6, 6}, each = {rows, 6, 6};
    EXPECT_EQ(result.jacobian.at("stress").at("strain").sizes(), constant ? one : each);
  }
}

TEST_P(Law, derivative_agrees_with_finite_differences)
{
  const auto model = load();
  const auto inputs = law_inputs(*model, 23);
  const auto block = model->jacobian(inputs).second.at("stress").at("strain").expand({23, 6, 6});
  const double h = 1e-8;
  for (std::int64_t j = 0; j < 6; j++)
  {
    auto up = inputs, down = inputs;
    up["strain"] = inputs.at("strain").clone();
    down["strain"] = inputs.at("strain").clone();
    up["strain"].select(1, j).add_(h);
    down["strain"].select(1, j).sub_(h);
    const auto slope = (model->forward(up).at("stress") - model->forward(down).at("stress")) / (2 * h);
    EXPECT_LT(difference(block.select(-1, j), slope), 1e-3 * block.abs().max().item<double>()) << "column " << j;
  }
}

TEST_P(Law, impossible_rows_fail_alone)
{
  if (!GetParam().implicit)
    GTEST_SKIP() << "a law without a solve has no impossible rows";
  const auto model = load();
  auto inputs = law_inputs(*model, 64);
  inputs["strain"][7].fill_(1e200);
  inputs["strain"][40].fill_(-1e180);
  const auto all = model->evaluate(inputs, {.jacobian = true});
  EXPECT_EQ(all.failed_rows, (std::vector<std::int64_t>{7, 40}));
  std::vector<std::int64_t> rest;
  for (std::int64_t row = 0; row < 64; row++)
    if (row != 7 && row != 40)
      rest.push_back(row);
  const auto rows = at::tensor(rest);
  const auto without = model->evaluate(rows_of(inputs, rows), {.jacobian = true});
  for (const auto & [name, value] : without.outputs)
    EXPECT_TRUE(same_rows(value, all.outputs.at(name).index_select(0, rows), GetParam().backend)) << name;
  EXPECT_THROW(model->forward(inputs), ConvergenceError);
}

TEST_P(Law, threads_and_order_of_rows)
{
  const auto model = load(1);
  const auto inputs = law_inputs(*model, 2500);
  const auto expected = model->evaluate(inputs, {.jacobian = true});
  at::manual_seed(3);
  const auto order = at::randperm(2500, at::kLong);
  for (const std::int64_t threads : {1, 2, 4})
  {
    const auto result = load(threads)->evaluate(rows_of(inputs, order), {.jacobian = true});
    const auto tangent = result.jacobian.at("stress").at("strain").expand({2500, 6, 6});
    const auto whole = expected.jacobian.at("stress").at("strain").expand({2500, 6, 6});
    EXPECT_TRUE(same_rows(tangent, whole.index_select(0, order), GetParam().backend)) << threads;
  }
}

TEST_P(Law, many_threads_load_and_call)
{
  const auto model = load();
  const auto inputs = law_inputs(*model, 200);
  const auto expected = model->forward(inputs).at("stress");
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; i++)
    threads.emplace_back([&]
                         { right += same_rows(load()->forward(inputs).at("stress"), expected, GetParam().backend); });
  for (int i = 0; i < 4; i++)
    threads.emplace_back(
        [&]
        {
          bool same = true;
          for (int repeat = 0; repeat < 10; repeat++)
            same &= same_rows(model->forward(inputs).at("stress"), expected, GetParam().backend);
          right += same;
        });
  for (auto & thread : threads)
    thread.join();
  EXPECT_EQ(right, 12);
}

TEST_P(Law, wrong_calls_are_named)
{
  const auto model = load();
  auto inputs = law_inputs(*model, 3);
  inputs["strain"] = inputs["strain"].to(at::kFloat);
  EXPECT_PRED_FORMAT2(mentions, fatal_error([&] { model->forward(inputs); }), (Words{"'strain'", "Float", "Double"}));
  inputs["strain"] = at::zeros({3, 5}, at::kDouble);
  EXPECT_PRED_FORMAT2(mentions, fatal_error([&] { model->forward(inputs); }), (Words{"(3, 5)", "(*B, 6)"}));
  inputs.erase("strain");
  EXPECT_PRED_FORMAT2(mentions, fatal_error([&] { model->forward(inputs); }), (Words{"misses the input 'strain'"}));
  inputs["strain"] = at::full({3, 6}, std::nan(""), at::kDouble);
  EXPECT_THROW(model->forward(inputs), InputError);
  const auto flat = law_inputs(*model, 12);
  auto transposed = flat;
  transposed["strain"] = flat.at("strain").t().contiguous().t();
  EXPECT_TRUE(same_bits(model->forward(transposed).at("stress"), model->forward(flat).at("stress")));
}

TEST_P(Law, damaged_files_are_refused)
{
  const TemporaryFolder copy;
  fs::copy(artifacts() / GetParam().artifact, copy.path(), fs::copy_options::recursive);
  const std::string extension = GetParam().backend == Backend::NATIVE ? ".so" : ".pt2";
  for (const auto & entry : fs::recursive_directory_iterator(copy.path()))
    if (entry.path().extension() == extension)
    {
      fs::resize_file(entry.path(), fs::file_size(entry.path()) / 2);
      EXPECT_PRED_FORMAT2(mentions,
                          load_error((copy.path() / "model_aoti.i").string(), "", {.backend = GetParam().backend}),
                          (Words{entry.path().filename().string(), "bytes"}));
      return;
    }
  FAIL() << "no " << extension << " in " << GetParam().artifact;
}

INSTANTIATE_TEST_SUITE_P(compiled, Law,
                         ::testing::Values(Case{"linear_elastic-native", Backend::NATIVE, false},
                                           Case{"j2_viscoplastic-native", Backend::NATIVE, true},
                                           Case{"j2_plastic-native", Backend::NATIVE, true},
                                           Case{"linear_elastic-both", Backend::INDUCTOR, false},
                                           Case{"j2_viscoplastic-both", Backend::INDUCTOR, true},
                                           Case{"j2_plastic-both", Backend::INDUCTOR, true}),
                         [](const auto & info)
                         {
                           auto name = info.param.artifact + (info.param.backend == Backend::NATIVE ? "" : "_pt2");
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

class Package : public ::testing::Test
{
protected:
  void SetUp() override
  {
    if (artifacts().empty())
      GTEST_SKIP() << "set MATLAW_TEST_ARTIFACTS to the folder that tests/artifacts.py writes";
  }
};

TEST_F(Package, agrees_with_native)
{
  const auto stub = (artifacts() / "j2_viscoplastic-both" / "model_aoti.i").string();
  const auto native = aoti::load_model(stub, "model", {.backend = Backend::NATIVE});
  const auto package = aoti::load_model(stub, "model", {.backend = Backend::INDUCTOR});
  EXPECT_EQ(native->backend(), "native");
  EXPECT_EQ(package->backend(), "inductor");
  const auto inputs = law_inputs(*native, 101);
  const auto [outputs, blocks] = native->jacobian(inputs);
  const auto [other_outputs, other_blocks] = package->jacobian(inputs);
  for (const auto & [name, value] : outputs)
    EXPECT_LE(difference(value, other_outputs.at(name)), 1e-10 * value.abs().max().item<double>()) << name;
  const auto & tangent = blocks.at("stress").at("strain");
  EXPECT_LE(difference(tangent, other_blocks.at("stress").at("strain")), 1e-10 * tangent.abs().max().item<double>());
}

TEST_F(Package, damaged_archive_is_refused_by_name)
{
  const TemporaryFolder temporary;
  const auto whole = read_file(artifacts() / "linear_elastic-both" / "model" / "cpu" / "float64" / "model.pt2");
  const auto path = (temporary.path() / "model.pt2").string();
  for (const auto & bytes : {whole.substr(0, whole.size() / 2), whole.substr(0, 10), std::string(), "x" + whole})
  {
    write_file(path, bytes);
    EXPECT_PRED_FORMAT2(mentions, fatal_error([&] { graph::load_package(path, {}, 1, at::kCPU); }),
                        (Words{"model.pt2", "matlaw-compile"}));
  }
}

TEST_F(Package, leaves_no_folder_behind)
{
  const TemporaryFolder temporary;
  const char * previous = std::getenv("TMPDIR");
  const std::string saved = previous ? previous : "";
  setenv("TMPDIR", temporary.path().c_str(), 1);
  // What a process that was killed while it unpacked would leave: its number is free again.
  const auto child = fork();
  if (child == 0)
    _exit(0);
  waitpid(child, nullptr, 0);
  const auto orphan = temporary.path() / ("matlaw-unpacked-" + std::to_string(child) + "-abcdef");
  write_file(orphan / "data" / "file", "left");
  const auto own = temporary.path() / ("matlaw-unpacked-" + std::to_string(getpid()) + "-abcdef");
  write_file(own / "data" / "file", "in use");
  const auto stub = (artifacts() / "linear_elastic-both" / "model_aoti.i").string();
  {
    // A number of threads that no other test has: a package is unpacked once for each.
    const auto model = load_model(stub, "model", {.backend = Backend::INDUCTOR, .threads = 61});
    EXPECT_FALSE(fs::exists(orphan));
    EXPECT_TRUE(fs::exists(own)) << "another thread may be using it";
    fs::remove_all(own);
    EXPECT_TRUE(fs::is_empty(temporary.path())) << "already while the model lives, so a kill leaves nothing";
    EXPECT_TRUE(model->evaluate(law_inputs(*model, 5)).ok());
  }
  EXPECT_TRUE(fs::is_empty(temporary.path()));
  if (previous)
    setenv("TMPDIR", saved.c_str(), 1);
  else
    unsetenv("TMPDIR");
}
