#include "toy_law.h"

#include <cstring>
#include <fstream>

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "support/sha256.h"

namespace matlaw::toy
{
namespace fs = std::filesystem;
using nlohmann::json;

TemporaryFolder::TemporaryFolder()
{
  auto name = (fs::temp_directory_path() / "matlaw-test-XXXXXX").string();
  if (!mkdtemp(name.data()))
    throw std::runtime_error("no temporary folder");
  _path = name;
}
TemporaryFolder::~TemporaryFolder()
{
  std::error_code ignored;
  fs::remove_all(_path, ignored);
}

std::string read_file(const fs::path & path)
{
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const fs::path & path, const std::string & text)
{
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

void write_metadata(const fs::path & folder, json metadata)
{
  metadata["metadata_sha256"] = std::string(64, '0');
  auto text = metadata.dump(1);
  const std::string key = "\"metadata_sha256\": \"";
  text.replace(text.find(key) + key.size(), 64, support::sha256(text));
  write_file(folder / "metadata.json", text);
}

json read_metadata_json(const fs::path & folder)
{
  return json::parse(read_file(folder / "metadata.json"));
}

::testing::AssertionResult mentions(const char * text_source, const char *, const std::string & text,
                                    const Words & words)
{
  for (const auto & word : words)
    if (text.find(word) == std::string::npos)
      return ::testing::AssertionFailure() << text_source << " does not mention \"" << word << "\":\n  " << text;
  return ::testing::AssertionSuccess();
}

std::string fatal_error(const std::function<void()> & action)
{
  try
  {
    action();
  }
  catch (const FatalError & error)
  {
    return error.what();
  }
  ADD_FAILURE() << "no FatalError was thrown";
  return "";
}

std::string load_error(const std::string & path, const std::string & name, const LoadOptions & options)
{
  return fatal_error([&] { load_model(path, name, options); });
}

static json variable(const std::string & name, const std::string & type)
{
  const auto sr2 = type == "SR2";
  return {{"name", name},
          {"type", type},
          {"base_shape", sr2 ? json::array({6}) : json::array()},
          {"sub_batch_shape", json::array()},
          {"size", sr2 ? 6 : 1}};
}

static json pair(const std::string & output, const std::string & input)
{
  return {{"output", output}, {"input", input}, {"batch_independent", false}};
}

static json toy_metadata(const std::string & build)
{
  const auto pairs = json::array({pair("stress", "strain"), pair("stress", "s"), pair("x", "s"), pair("x", "strain")});
  json parameter = variable("gain", "Scalar");
  parameter["param_base_shape"] = parameter["base_shape"];
  parameter["value"] = {1.0};
  json inner;
  for (const auto & entry : {variable("trial", "SR2"), variable("y", "Scalar")})
    inner[entry["name"].get<std::string>()] = entry;
  const json forward_0 = {{"kind", "forward"},
                          {"inputs", {"strain"}},
                          {"outputs", {"trial"}},
                          {"parameters", json::array()},
                          {"graphs",
                           {{"value", {{"stem", "toy_seg0"}}},
                            {"jvp", {{"stem", "toy_seg0_jvp"}, {"pairs", json::array({pair("trial", "strain")})}}}}}};
  const json implicit = {
      {"kind", "implicit"},
      {"inputs", {"trial", "s", "x~1"}},
      {"outputs", {"x", "y"}},
      {"parameters", json::array()},
      {"size", 2},
      {"unknowns", json::array({{{"name", "x"}, {"size", 1}, {"offset", 0}, {"base_shape", json::array()}},
                                {{"name", "y"}, {"size", 1}, {"offset", 1}, {"base_shape", json::array()}}})},
      {"givens", {"trial", "s"}},
      {"graphs",
       {{"residual", {{"stem", "toy_seg1_residual"}}},
        {"jacobian", {{"stem", "toy_seg1_jacobian"}}},
        {"solve", {{"stem", "toy_seg1_solve"}}},
        {"jacobian_given",
         {{"stem", "toy_seg1_jacobian_given"},
          {"givens", json::array({{{"name", "s"}, {"size", 1}, {"offset", 0}},
                                  {{"name", "trial"}, {"size", 6}, {"offset", 1}}})}}}}}};
  const json forward_2 = {
      {"kind", "forward"},
      {"inputs", {"trial", "x"}},
      {"outputs", {"stress"}},
      {"parameters", {"gain"}},
      {"graphs",
       {{"value", {{"stem", "toy_seg2"}}},
        {"jvp", {{"stem", "toy_seg2_jvp"}, {"pairs", json::array({pair("stress", "trial"), pair("stress", "x")})}}}}}};
  return {{"schema_version", 13},
          {"name", "toy"},
          {"matlaw_version", "0.1.0"},
          {"torch_version", "2.13.0"},
          {"inputs", json::array({variable("strain", "SR2"), variable("s", "Scalar"), variable("x~1", "Scalar")})},
          {"outputs", json::array({variable("stress", "SR2"), variable("x", "Scalar")})},
          {"parameters", json::array({parameter})},
          {"derivatives", pairs},
          {"state_pairs", json::array({{{"current", "x"}, {"old", "x~1"}, {"role", "state"}, {"initial", {1.0}}}})},
          {"solver_config",
           {{"atol", build == "cpu/float32" ? 1e-5 : 1e-12},
            {"rtol", 1e-12},
            {"miters", 30},
            {"ls_type", "NONE"},
            {"solver_kind", "direct"}}},
          {"segments", json::array({forward_0, implicit, forward_2})},
          {"variables", inner},
          {"builds", {{build, {{"backends", {"native"}}, {"cpu_targets", {"x86-64"}}, {"glibc_floor", "2.17"}}}}},
          {"source", {{"file", "toy.i"}, {"text", "# \"metadata_sha256\": \"not the seal\""}}}};
}

ToyLaw::ToyLaw(at::ScalarType dtype)
{
  const std::string real = dtype == at::kFloat ? "float" : "double";
  const std::string build = dtype == at::kFloat ? "cpu/float32" : "cpu/float64";
  auto metadata = toy_metadata(build);
  fs::create_directories(folder() / build);
  for (const auto & entry : fs::directory_iterator(fs::path(MATLAW_TOY_KERNELS) / real))
  {
    const auto name = entry.path().filename();
    if (name.string().starts_with("toy_seg2_doubled"))
      continue;
    fs::copy_file(entry.path(), folder() / build / name);
    const auto bytes = read_file(entry.path());
    metadata["files"][build + "/" + name.string()] = {{"sha256", support::sha256(bytes)}, {"bytes", bytes.size()}};
  }
  write_metadata(folder(), metadata);
  write_file(stub(), "[Tensors]\n  [a]\n    type = Python\n    expr = 'torch.zeros(3) # [not] = a section'\n  []\n[]\n"
                     "[Models]\n  [toy] # compiled\n    type = AOTIModel\n    artifact_path = 'toy'\n  []\n"
                     "  [plain]\n    type = LinearIsotropicElasticity\n    coefficients = '1 2'\n  []\n[]\n");
}

std::unique_ptr<aoti::Model> ToyLaw::load(const LoadOptions & options) const
{
  return aoti::load_model(folder().string(), "toy", options);
}

void ToyLaw::edit(const std::function<void(json &)> & change) const
{
  auto metadata = read_metadata_json(folder());
  change(metadata);
  write_metadata(folder(), metadata);
}

TensorMap toy_inputs(std::int64_t rows, at::ScalarType dtype)
{
  const auto row = at::arange(rows, at::kDouble);
  const auto component = at::arange(6, at::kDouble);
  return {{"strain", (0.02 * at::sin(row.unsqueeze(1) * 1.7 + component)).to(dtype)},
          {"s", (1.0 + at::remainder(row * 0.37, 3.0)).to(dtype)},
          {"x~1", at::ones({rows}, dtype)}};
}

TensorMap toy_expected(const TensorMap & inputs, double gain)
{
  auto stiffness = at::eye(6, at::kDouble) * 2.0;
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++)
      stiffness[i][j] += (i + 1.0) / (j + 5.0);
  const auto trial = at::matmul(inputs.at("strain").to(at::kDouble), stiffness.t());
  const auto x = at::sqrt(inputs.at("s").to(at::kDouble) + 0.25 * trial.sum(-1));
  return {{"stress", gain * (1.0 + x).unsqueeze(-1) * trial}, {"x", x}};
}

bool same_bits(const at::Tensor & a, const at::Tensor & b)
{
  const auto x = a.contiguous(), y = b.contiguous();
  return x.sizes() == y.sizes() && x.scalar_type() == y.scalar_type() &&
         (x.numel() == 0 || std::memcmp(x.const_data_ptr(), y.const_data_ptr(), x.nbytes()) == 0);
}

void ToyLaw::promote_gain_everywhere() const
{
  const auto pair = [](const std::string & output)
  { return json{{"output", output}, {"parameter", "gain"}, {"batch_independent", false}}; };
  edit(
      [&](json & metadata)
      {
        auto & first = metadata["segments"][0];
        first["parameters"] = {"gain"};
        first["graphs"]["value"]["stem"] = "toy_gain";
        first["graphs"]["jvp"]["stem"] = "toy_gain_jvp";
        first["graphs"]["param_jvp"] = {{"stem", "toy_gain_param_jvp"}, {"pairs", json::array({pair("trial")})}};
        auto & solve = metadata["segments"][1];
        solve["parameters"] = {"gain"};
        for (const std::string graph : {"residual", "jacobian", "jacobian_given"})
          solve["graphs"][graph]["stem"] = "toy_scaled_" + graph;
        const json slice = {{"name", "gain"}, {"size", 1}, {"offset", 0}};
        solve["graphs"]["dr_dparam"] = {{"stem", "toy_scaled_dr_dparam"}, {"parameters", json::array({slice})}};
        metadata["segments"][2]["graphs"]["param_jvp"] = {{"stem", "toy_seg2_param_jvp"},
                                                          {"pairs", json::array({pair("stress")})}};
        metadata["param_derivatives"] = json::array({pair("stress"), pair("x")});
      });
}
}
