#include <atomic>
#include <thread>

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "support/sha256.h"
#include "toy_law.h"

using namespace matlaw;
using namespace matlaw::toy;

TEST(Loading, stub_folder_and_metadata_lead_to_the_same_law)
{
  const ToyLaw law;
  for (const auto & path : {law.stub(), law.folder(), law.folder() / "metadata.json"})
    for (const auto * name : {"toy", ""})
    {
      const auto model = load_model(path.string(), name);
      EXPECT_EQ(model->name(), "toy");
      EXPECT_EQ(model->input_names(), (std::vector<std::string>{"strain", "s", "x~1"}));
      EXPECT_EQ(model->output_names(), (std::vector<std::string>{"stress", "x"}));
      EXPECT_EQ(model->input_base_shapes(), (std::vector<std::vector<std::int64_t>>{{6}, {}, {}}));
      EXPECT_EQ(model->output_base_shapes(), (std::vector<std::vector<std::int64_t>>{{6}, {}}));
      EXPECT_EQ(model->input_sub_batch_shapes(), (std::vector<std::vector<std::int64_t>>{{}, {}, {}}));
      EXPECT_EQ(model->input_types(), (std::vector<std::string>{"SR2", "Scalar", "Scalar"}));
      EXPECT_EQ(model->dtype(), at::kDouble);
      EXPECT_TRUE(model->device().is_cpu());
      ASSERT_EQ(model->derivative_pairs().size(), 4u);
      EXPECT_EQ(model->derivative_pairs()[0].output, "stress");
      EXPECT_EQ(model->derivative_pairs()[0].input, "strain");
      ASSERT_EQ(model->state_pairs().size(), 1u);
      EXPECT_EQ(model->state_pairs()[0].old, "x~1");
      EXPECT_TRUE(model->state_pairs()[0].is_state);
    }
}

TEST(Loading, relative_paths_work_from_the_stubs_own_folder)
{
  const ToyLaw law;
  const auto previous = std::filesystem::current_path();
  std::filesystem::current_path(law.stub().parent_path());
  EXPECT_NO_THROW(load_model("toy_aoti.i", "toy"));
  EXPECT_NO_THROW(load_model("toy", "toy"));
  std::filesystem::current_path(law.folder());
  EXPECT_NO_THROW(load_model("metadata.json", "toy"));
  std::filesystem::current_path(previous);
}

TEST(Loading, names_that_are_not_there)
{
  const ToyLaw law;
  EXPECT_PRED_FORMAT2(mentions, load_error(law.stub().string(), "tyo"), (Words{"tyo", "Did you mean 'toy'"}));
  EXPECT_PRED_FORMAT2(mentions, load_error(law.folder().string(), "steel"), (Words{"'toy'", "'steel'"}));
  EXPECT_PRED_FORMAT2(mentions, load_error("/nowhere/at/all"), (Words{"does not exist"}));
  EXPECT_PRED_FORMAT2(mentions, load_error((law.folder() / "cpu").string()), (Words{"metadata.json"}));
  EXPECT_PRED_FORMAT2(mentions, load_error(law.stub().parent_path().string(), "tyo"), (Words{"no artifact 'tyo'"}));
  EXPECT_PRED_FORMAT2(mentions, load_error(law.stub().string(), "plain"),
                      (Words{"not compiled", "matlaw-compile", "eager"}));
  std::filesystem::rename(law.folder(), law.folder().string() + "_moved");
  EXPECT_PRED_FORMAT2(mentions, load_error(law.stub().string(), "toy"), (Words{"artifact_path"}));
}

TEST(Loading, other_schema_version)
{
  const ToyLaw law;
  law.edit([](auto & metadata) { metadata["schema_version"] = 12; });
  EXPECT_PRED_FORMAT2(mentions, load_error(law.folder().string()),
                      (Words{"schema_version 12", "schema_version 13", "matlaw-compile"}));
}

TEST(Loading, other_torch_version)
{
  const ToyLaw law;
  law.edit([](auto & metadata) { metadata["torch_version"] = "2.12.1"; });
  EXPECT_PRED_FORMAT2(mentions, load_error(law.folder().string()), (Words{"torch 2.12.1", "torch 2.13"}));
  law.edit([](auto & metadata) { metadata["torch_version"] = "2.13.7"; });
  EXPECT_NO_THROW(law.load()) << "a patch release keeps the interface";
}

TEST(Loading, foreign_cpu)
{
  const ToyLaw law;
  law.edit([](auto & metadata) { metadata["builds"]["cpu/float64"]["cpu_targets"] = {"x86-64-v9"}; });
  EXPECT_PRED_FORMAT2(mentions, load_error(law.folder().string()), (Words{"x86-64-v9", "this CPU is x86-64"}));
}

TEST(Loading, renamed_boundary)
{
  const ToyLaw law;
  // The new name of the input is that of a variable inside: no business of the caller's.
  law.edit(
      [](auto & metadata)
      {
        metadata["boundary_aliases"] = {{"inputs", {{"strain", "trial"}, {"x~1", "root~1"}}},
                                        {"outputs", {{"x", "root"}}},
                                        {"parameters", {{"gain", "k"}}}};
      });
  const auto model = law.load();
  EXPECT_EQ(model->input_names(), (Words{"trial", "s", "root~1"}));
  EXPECT_EQ(model->output_names(), (Words{"stress", "root"}));
  EXPECT_EQ(model->state_pairs()[0].current, "root");
  EXPECT_EQ(model->state_pairs()[0].old, "root~1");
  EXPECT_EQ(model->derivative_pairs()[3].output, "root");
  EXPECT_EQ(model->derivative_pairs()[3].input, "trial");
  model->set_parameter("k", at::scalar_tensor(2.0, at::kDouble));
  EXPECT_EQ(model->named_parameters().count("gain"), 0u);
  const auto inputs = toy_inputs(5);
  const TensorMap renamed = {{"trial", inputs.at("strain")}, {"s", inputs.at("s")}, {"root~1", inputs.at("x~1")}};
  const auto [outputs, blocks] = model->jacobian(renamed);
  const ToyLaw plain;
  const auto original = plain.load();
  original->set_parameter("gain", at::scalar_tensor(2.0, at::kDouble));
  const auto [expected, expected_blocks] = original->jacobian(inputs);
  EXPECT_TRUE(same_bits(outputs.at("root"), expected.at("x")));
  EXPECT_TRUE(same_bits(blocks.at("root").at("trial"), expected_blocks.at("x").at("strain")));
  EXPECT_EQ(model->jvp(renamed, {{"trial", inputs.at("strain")}}).second.count("root"), 1u);
  EXPECT_PRED_FORMAT2(mentions, fatal_error([&] { model->forward(inputs); }), (Words{"no input 'strain'", "'trial'"}));
  law.edit([](auto & metadata) { metadata["boundary_aliases"]["outputs"]["y"] = "z"; });
  EXPECT_PRED_FORMAT2(mentions, load_error(law.folder().string()), (Words{"boundary_aliases.outputs", "'y'"}));
}

TEST(Loading, newer_c_library)
{
  const ToyLaw law;
  law.edit([](auto & metadata) { metadata["builds"]["cpu/float64"]["glibc_floor"] = "2.999"; });
  EXPECT_PRED_FORMAT2(mentions, load_error(law.folder().string()), (Words{"needs glibc 2.999"}));
}

TEST(Loading, device_dtype_and_backend_that_are_not_built)
{
  const ToyLaw law;
  EXPECT_PRED_FORMAT2(mentions, load_error(law.folder().string(), "", {.dtype = at::kFloat}),
                      (Words{"cpu/float32", "'cpu/float64'"}));
  EXPECT_PRED_FORMAT2(mentions, load_error(law.folder().string(), "", {.dtype = at::kInt}), (Words{"Int"}));
  EXPECT_PRED_FORMAT2(mentions, load_error(law.folder().string(), "", {.device = at::kCUDA}), (Words{"cuda"}));
  EXPECT_PRED_FORMAT2(mentions, load_error(law.folder().string(), "", {.device = at::Device("meta")}), (Words{"meta"}));
  EXPECT_PRED_FORMAT2(mentions, load_error(law.folder().string(), "", {.backend = Backend::INDUCTOR}), (Words{".pt2"}));
  EXPECT_PRED_FORMAT2(mentions, load_error(law.folder().string(), "", {.threads = -1}), (Words{"threads"}));
}

TEST(Loading, environment_chooses_the_backend)
{
  const ToyLaw law;
  setenv("MATLAW_BACKEND", "inductor", 1);
  EXPECT_PRED_FORMAT2(mentions, load_error(law.folder().string()), (Words{".pt2"}));
  EXPECT_EQ(law.load({.backend = Backend::NATIVE})->backend(), "native") << "the option wins";
  setenv("MATLAW_BACKEND", "nativ", 1);
  EXPECT_PRED_FORMAT2(mentions, load_error(law.folder().string()), (Words{"MATLAW_BACKEND", "'nativ'"}));
  unsetenv("MATLAW_BACKEND");
  setenv("MATLAW_NUM_THREADS", "many", 1);
  EXPECT_PRED_FORMAT2(mentions, load_error(law.folder().string()), (Words{"MATLAW_NUM_THREADS"}));
  unsetenv("MATLAW_NUM_THREADS");
}

TEST(Loading, edited_metadata)
{
  const ToyLaw law;
  const auto path = law.folder() / "metadata.json";
  const auto text = read_file(path);
  auto edited = text;
  edited.replace(edited.find("1e-12"), 5, "1e-02");
  write_file(path, edited);
  EXPECT_PRED_FORMAT2(mentions, load_error(law.folder().string()), (Words{"edited", "metadata_sha256"}));
  auto metadata = nlohmann::json::parse(text);
  metadata.erase("metadata_sha256");
  write_file(path, metadata.dump());
  EXPECT_PRED_FORMAT2(mentions, load_error(law.folder().string()), (Words{"metadata_sha256", "missing"}));
  write_file(path, text);
  EXPECT_NO_THROW(law.load());
}

TEST(Loading, damaged_metadata)
{
  const ToyLaw law;
  const auto path = law.folder() / "metadata.json";
  const auto text = read_file(path);
  for (const auto size : {std::size_t(0), std::size_t(1), text.size() / 2, text.size() - 3})
  {
    write_file(path, text.substr(0, size));
    EXPECT_PRED_FORMAT2(mentions, load_error(law.folder().string()), (Words{"not valid JSON"})) << size;
  }
  write_file(path, "[1, 2]");
  EXPECT_PRED_FORMAT2(mentions, load_error(law.folder().string()), (Words{"must be an object"}));
}

TEST(Loading, every_missing_key_is_named)
{
  const ToyLaw law;
  const auto metadata = read_metadata_json(law.folder());
  for (const auto & [key, value] : metadata.items())
  {
    if (key == "source" || key == "metadata_sha256")
      continue;
    auto without = metadata;
    without.erase(key);
    write_metadata(law.folder(), without);
    EXPECT_PRED_FORMAT2(mentions, load_error(law.folder().string()), (Words{"'" + key + "'", "is missing"}));
  }
}

TEST(Loading, contradictions_in_the_metadata)
{
  const ToyLaw law;
  const auto sound = read_metadata_json(law.folder());
  const auto refused = [&](const std::function<void(nlohmann::json &)> & change)
  {
    auto metadata = sound;
    change(metadata);
    write_metadata(law.folder(), metadata);
    return load_error(law.folder().string());
  };
  EXPECT_PRED_FORMAT2(mentions, refused([](auto & m) { m["inputs"][0]["size"] = 5; }), (Words{"inputs[0]"}));
  EXPECT_PRED_FORMAT2(mentions, refused([](auto & m) { m["inputs"][0]["base_shape"] = "six"; }),
                      (Words{"inputs[0].base_shape"}));
  EXPECT_PRED_FORMAT2(mentions, refused([](auto & m) { m["segments"][1]["size"] = 3; }), (Words{"segment 1"}));
  EXPECT_PRED_FORMAT2(mentions, refused([](auto & m) { m["segments"][1]["unknowns"][1]["offset"] = 0; }),
                      (Words{"offset"}));
  EXPECT_PRED_FORMAT2(mentions, refused([](auto & m) { m["segments"][0]["inputs"][0] = "stress"; }),
                      (Words{"'stress'"}));
  EXPECT_PRED_FORMAT2(mentions, refused([](auto & m) { m["segments"][2]["parameters"][0] = "E"; }), (Words{"'E'"}));
  EXPECT_PRED_FORMAT2(mentions, refused([](auto & m) { m["segments"][1]["kind"] = "krylov"; }), (Words{"krylov"}));
  EXPECT_PRED_FORMAT2(mentions, refused([](auto & m) { m["solver_config"]["ls_type"] = "WOLFE"; }),
                      (Words{"WOLFE", "BACKTRACKING"}));
  EXPECT_PRED_FORMAT2(mentions, refused([](auto & m) { m["solver_config"]["ls_cutback"] = 1.0; }),
                      (Words{"ls_cutback"}));
  EXPECT_PRED_FORMAT2(mentions, refused([](auto & m) { m["derivatives"][0]["input"] = "trial"; }), (Words{"'trial'"}));
  EXPECT_PRED_FORMAT2(mentions, refused([](auto & m) { m["variables"].erase("trial"); }), (Words{"'trial'"}));
  EXPECT_PRED_FORMAT2(mentions, refused([](auto & m) { m["segments"][0]["graphs"]["value"]["stem"] = "toy_seg9"; }),
                      (Words{"toy_seg9"}));
  EXPECT_PRED_FORMAT2(mentions, refused([](auto & m) { m["state_pairs"][0]["initial"] = {1.0, 2.0}; }), (Words{"x~1"}));
}

TEST(Loading, damaged_kernels)
{
  const ToyLaw law;
  const auto kernel = law.folder() / "cpu" / "float64" / "toy_seg1_jacobian.x86-64.so";
  const auto bytes = read_file(kernel);
  write_file(kernel, bytes.substr(0, bytes.size() / 2));
  EXPECT_PRED_FORMAT2(mentions, load_error(law.folder().string()), (Words{"toy_seg1_jacobian.x86-64.so", "bytes"}));
  auto flipped = bytes;
  flipped[flipped.size() / 2] ^= 1;
  write_file(kernel, flipped);
  EXPECT_PRED_FORMAT2(mentions, load_error(law.folder().string()), (Words{"SHA-256"}));
  std::filesystem::remove(kernel);
  EXPECT_PRED_FORMAT2(mentions, load_error(law.folder().string()), (Words{"is missing"}));
  // A library that is listed as it is, but is no kernel.
  write_file(kernel, "not a library");
  law.edit(
      [&](auto & m)
      {
        m["files"]["cpu/float64/toy_seg1_jacobian.x86-64.so"] = {{"sha256", support::sha256("not a library")},
                                                                 {"bytes", 13}};
      });
  EXPECT_PRED_FORMAT2(mentions, load_error(law.folder().string()), (Words{"Cannot load the native kernel"}));
}

TEST(Loading, recompiled_in_place_takes_effect_in_a_running_process)
{
  const ToyLaw law;
  const auto inputs = toy_inputs(4);
  const auto before = law.load();
  const auto old = before->forward(inputs);
  const auto bytes = read_file(MATLAW_TOY_KERNELS "/double/toy_seg2_doubled.x86-64.so");
  write_file(law.folder() / "cpu" / "float64" / "toy_seg2.x86-64.so", bytes);
  law.edit(
      [&](auto & metadata)
      {
        metadata["files"]["cpu/float64/toy_seg2.x86-64.so"] = {{"sha256", support::sha256(bytes)},
                                                               {"bytes", bytes.size()}};
      });
  EXPECT_TRUE(same_bits(law.load()->forward(inputs).at("stress"), old.at("stress").mul(2.0)));
  EXPECT_TRUE(same_bits(before->forward(inputs).at("stress"), old.at("stress"))) << "the old one keeps its kernels";
}

TEST(Loading, eight_threads_at_once)
{
  const ToyLaw law;
  const auto inputs = toy_inputs(20);
  const auto expected = law.load()->forward(inputs);
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; i++)
    threads.emplace_back([&] { right += same_bits(law.load()->forward(inputs).at("stress"), expected.at("stress")); });
  for (auto & thread : threads)
    thread.join();
  EXPECT_EQ(right, 8);
}
