// Weights outside the compiled code: loading, updating while others call, refusals, the watcher.
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <set>
#include <thread>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "matlaw/WeightStream.h"
#include "matlaw/dispatch/DispatchedModel.h"
#include "matlaw/dispatch/StaticHybridScheduler.h"
#include "matlaw/host/QuadratureBatch.h"
#include "toy_weights.h"

using namespace matlaw;
using namespace matlaw::toy;
namespace fs = std::filesystem;

namespace
{
double gain_in(const Model & law)
{
  return law.weights()->tensors.at("gain").item<double>();
}

void expect_gain(const Model & law, double gain)
{
  const auto inputs = toy_inputs(40);
  const auto found = law.forward(inputs);
  auto scaled = inputs;
  // x y = gain s + c sum(gain K strain)
  scaled["s"] = gain * inputs.at("s");
  scaled["strain"] = gain * inputs.at("strain");
  const auto expected = toy_expected(scaled, gain);
  for (const auto & [name, value] : expected)
    EXPECT_LT((found.at(name) - value).abs().max().item<double>(), 1e-9) << name << " with gain " << gain;
}

std::vector<std::byte> mapped_lines(const std::string & file)
{
  std::ifstream maps("/proc/self/smaps");
  std::vector<std::byte> found;
  for (std::string line; std::getline(maps, line);)
    if (line.find(file) != std::string::npos)
      found.push_back({});
  return found;
}

std::int64_t resident_kibibytes()
{
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:"))
      return std::atoll(line.c_str() + 6);
  return 0;
}
}

TEST(Weights, are_those_of_the_file_until_they_are_updated)
{
  const WeightedToy toy;
  const auto law = toy.load();
  ASSERT_EQ(law->weight_infos().size(), 1u);
  EXPECT_EQ(law->weight_infos()[0].name, "gain");
  EXPECT_TRUE(law->weight_infos()[0].shape.empty());
  EXPECT_EQ(law->weights()->version, 1u);
  expect_gain(*law, 1.0);
  EXPECT_TRUE(law->named_parameters().empty());
}

TEST(Weights, update_run_update_run)
{
  const WeightedToy toy;
  const auto law = toy.load();
  std::uint64_t version = 1;
  for (const double gain : {2.0, 0.5, 3.0, 1.0})
  {
    EXPECT_EQ(law->update_weights(gain_of(gain)), ++version);
    EXPECT_EQ(law->weights()->version, version);
    EXPECT_EQ(law->evaluate(toy_inputs(3)).weights_version, version);
    expect_gain(*law, gain);
  }
}

TEST(Weights, derivatives_follow_them)
{
  const WeightedToy toy;
  const auto law = toy.load();
  const auto inputs = toy_inputs(5);
  law->update_weights(gain_of(1.7));
  const auto [outputs, blocks] = law->jacobian(inputs);
  const double step = 1e-6;
  for (std::int64_t j = 0; j < 6; j++)
  {
    auto high = inputs, low = inputs;
    high["strain"] = inputs.at("strain").clone();
    low["strain"] = inputs.at("strain").clone();
    high["strain"].select(1, j).add_(step);
    low["strain"].select(1, j).sub_(step);
    const auto slope = (law->forward(high).at("stress") - law->forward(low).at("stress")) / (2 * step);
    EXPECT_LT((blocks.at("stress").at("strain").select(2, j) - slope).abs().max().item<double>(), 1e-6);
  }
}

TEST(Weights, a_copy_is_taken_unless_the_caller_manages_the_memory)
{
  const WeightedToy toy;
  const auto law = toy.load();
  auto own = gain_of(2.0);
  law->update_weights(own);
  own.at("gain").fill_(5.0);
  EXPECT_EQ(gain_in(*law), 2.0);
  law->update_weights(own, {.user_managed = true});
  EXPECT_EQ(law->weights()->tensors.at("gain").const_data_ptr(), own.at("gain").const_data_ptr());
  own.clear(); // the law keeps the memory
  expect_gain(*law, 5.0);
  EXPECT_PRED_FORMAT2(mentions, fatal_error([&] { law->update_weights({{"gain", at::ones({2}).to(at::kDouble)}}); }),
                      (Words{"'gain'", "(2,)", "()"}));
}

TEST(Weights, what_does_not_fit_is_refused_by_name_and_the_old_ones_serve)
{
  const WeightedToy toy;
  const auto law = toy.load();
  law->update_weights(gain_of(2.0));
  const auto refused = [&](const TensorMap & weights, const Words & words)
  {
    EXPECT_PRED_FORMAT2(mentions, fatal_error([&] { law->update_weights(weights); }), words);
    EXPECT_EQ(law->weights()->version, 2u);
    expect_gain(*law, 2.0);
  };
  refused({}, {"weight 'gain' is missing"});
  refused({{"gain", at::ones({3}, at::kDouble)}}, {"weight 'gain'", "shape"});
  refused({{"gain", at::ones({}, at::kFloat)}}, {"weight 'gain'", "float32", "float64"});
  refused({{"gain", at::ones({}, at::kDouble)}, {"offset", at::ones({}, at::kDouble)}},
          {"no weight 'offset'", "'gain'"});
  refused({{"gain", at::full({}, std::nan(""), at::kDouble)}}, {"weight 'gain'", "NaN"});
  refused({{"gain", at::full({}, std::numeric_limits<double>::infinity(), at::kDouble)}},
          {"weight 'gain'", "infinity"});
  EXPECT_PRED_FORMAT2(mentions, fatal_error([&] { ToyLaw().load()->update_weights(gain_of(2.0)); }),
                      (Words{"'toy'", "no weights outside", "--external-weights"}));
}

TEST(Weights, files_are_read_whole_or_refused)
{
  const WeightedToy toy;
  const auto law = toy.load();
  const TemporaryFolder folder;
  const auto file = folder.path() / "new.safetensors";
  const auto whole = safetensors({{"gain", {4.0}}});
  write_file(file, whole);
  EXPECT_EQ(law->update_weights(file.string()), 2u);
  write_file(file, safetensors({{"gain", {9.0}}})); // it may change afterwards
  expect_gain(*law, 4.0);

  for (const std::size_t length : {std::size_t(0), std::size_t(5), std::size_t(20), whole.size() - 1})
  {
    write_file(file, whole.substr(0, length));
    EXPECT_PRED_FORMAT2(mentions, fatal_error([&] { law->update_weights(file.string()); }),
                        (Words{file.string(), "truncated"}));
  }
  auto damaged = whole;
  damaged[9] = '?';
  write_file(file, damaged);
  EXPECT_PRED_FORMAT2(mentions, fatal_error([&] { law->update_weights(file.string()); }),
                      (Words{file.string(), "JSON"}));
  write_file(file, "not weights at all, but long enough");
  EXPECT_PRED_FORMAT2(mentions, fatal_error([&] { law->update_weights(file.string()); }),
                      (Words{file.string(), "not a safetensors file"}));
  EXPECT_PRED_FORMAT2(mentions, fatal_error([&] { law->update_weights((folder.path() / "none").string()); }),
                      (Words{"none", "Cannot read"}));
  expect_gain(*law, 4.0);
}

TEST(Weights, an_artifact_with_another_weight_file_is_refused)
{
  const WeightedToy toy;
  write_file(toy.file(), safetensors({{"gain", {2.0}}}));
  EXPECT_PRED_FORMAT2(mentions, load_error(toy.folder().string()), (Words{toy.file().string(), "SHA-256"}));
  fs::remove(toy.file());
  EXPECT_PRED_FORMAT2(mentions, load_error(toy.folder().string()), (Words{toy.file().string(), "missing"}));
}

TEST(Weights, the_file_of_an_artifact_is_mapped)
{
  const WeightedToy toy;
  const auto law = toy.load(), other = toy.load();
  EXPECT_EQ(mapped_lines(fs::canonical(toy.file()).string()).size(), 2u);
  law->update_weights(gain_of(2.0));
  other->update_weights(gain_of(2.0));
  EXPECT_TRUE(mapped_lines(fs::canonical(toy.file()).string()).empty()); // freed with the weights
}

// Each call has one version in all of its segments, chunks and Newton steps, and the one that it says.
TEST(Weights, a_call_never_sees_a_mixture)
{
  const WeightedToy toy;
  const auto law = toy.load({.threads = 2, .max_chunk_rows = 8});
  const auto inputs = toy_inputs(64);
  constexpr int versions = 5;
  std::vector<TensorMap> expected;
  std::vector<BlockMap> derivatives;
  for (int v = 0; v < versions; v++)
  {
    law->update_weights(gain_of(1.0 + 0.25 * v));
    const auto evaluation = law->evaluate(inputs, {.jacobian = true});
    expected.push_back(evaluation.outputs);
    derivatives.push_back(evaluation.jacobian);
  }
  const auto first = law->weights()->version + 1;

  std::atomic<bool> done{false};
  std::atomic<int> wrong{0}, calls{0};
  std::set<std::uint64_t> seen[2];
  std::vector<std::thread> callers;
  for (int t = 0; t < 2; t++)
    callers.emplace_back(
        [&, t]
        {
          while (!done || calls < 4)
          {
            const auto evaluation = law->evaluate(inputs, {.jacobian = t == 1});
            calls++;
            seen[t].insert(evaluation.weights_version);
            const auto v = std::size_t(
                evaluation.weights_version < first ? versions - 1 : (evaluation.weights_version - first) % versions);
            for (const auto & [name, value] : expected[v])
              wrong += !same_bits(evaluation.outputs.at(name), value);
            if (t == 1)
              for (const auto & [out, row] : derivatives[v])
                for (const auto & [in, block] : row)
                  wrong += !same_bits(evaluation.jacobian.at(out).at(in), block);
          }
        });
  for (int k = 0; k < 1000; k++)
  {
    law->update_weights(gain_of(1.0 + 0.25 * (k % versions)));
    if (k % 25 == 0) // updates are much shorter than calls
      for (const auto before = calls.load(); calls < before + 2;)
        std::this_thread::yield();
  }
  done = true;
  for (auto & caller : callers)
    caller.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(law->weights()->version, first + 999);
  EXPECT_GT(seen[0].size() + seen[1].size(), 2u);
}

TEST(Weights, points_take_them_too)
{
  const WeightedToy toy;
  const auto law = toy.load();
  const auto inputs = toy_inputs(1);
  const auto point = [&]
  {
    std::vector<double> numbers, outputs(7);
    for (const auto & name : law->input_names())
    {
      const auto value = inputs.at(name).contiguous();
      numbers.insert(numbers.end(), value.const_data_ptr<double>(), value.const_data_ptr<double>() + value.numel());
    }
    EXPECT_EQ(law->evaluate_point(numbers.data(), outputs.data(), nullptr).status, Status::CONVERGED);
    return outputs;
  };
  const auto before = point();
  law->update_weights(gain_of(2.0));
  const auto after = point();
  EXPECT_NE(before, after);
  law->update_weights(gain_of(1.0));
  EXPECT_EQ(point(), before);
}

TEST(Weights, ten_thousand_updates_leak_nothing)
{
  const WeightedToy toy;
  const auto law = toy.load();
  const auto inputs = toy_inputs(8);
  const auto update = [&](int count)
  {
    for (int k = 0; k < count; k++)
    {
      law->update_weights(gain_of(1.0 + k % 7));
      if (k % 100 == 0)
        law->forward(inputs);
    }
  };
  update(2000);
  const auto before = resident_kibibytes();
  update(10000);
  EXPECT_LT(resident_kibibytes() - before, 4096); // 10000 weights and their bookkeeping would be more than this
  EXPECT_EQ(law->weights()->version, 12001u);
}

TEST(Weights, reach_every_copy_of_a_dispatched_law)
{
  const WeightedToy toy;
  const auto scheduler = std::make_shared<dispatch::StaticHybridScheduler>(
      std::vector<dispatch::DeviceConfig>(2, {.chunk_rows = 16}), dispatch::CpuDevices::SEVERAL);
  const auto law = dispatch::load_model(toy.folder().string(), "toy", scheduler);
  EXPECT_EQ(law->weight_infos().size(), 1u);
  EXPECT_EQ(law->update_weights(gain_of(2.0)), 2u);
  for (std::size_t i = 0; i < 2; i++)
    expect_gain(law->copy(i), 2.0);
  const auto inputs = toy_inputs(100);
  std::vector<TensorMap> expected;
  for (const double gain : {2.0, 3.0})
  {
    law->update_weights(gain_of(gain));
    expected.push_back(law->forward(inputs));
  }
  std::atomic<bool> done{false};
  std::atomic<int> wrong{0};
  std::thread caller(
      [&]
      {
        while (!done)
        {
          const auto found = law->evaluate(inputs);
          const auto & version = expected[(found.weights_version + 1) % 2];
          for (const auto & [name, value] : version)
            wrong += !same_bits(found.outputs.at(name), value);
        }
      });
  for (int k = 0; k < 100; k++)
    law->update_weights(gain_of(k % 2 ? 3.0 : 2.0));
  done = true;
  caller.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_PRED_FORMAT2(mentions, fatal_error([&] { law->update_weights(TensorMap{}); }),
                      (Words{"weight 'gain' is missing"}));
}

TEST(Weights, of_a_batch_of_points)
{
  const WeightedToy toy;
  const std::shared_ptr<Model> law = toy.load();
  host::QuadratureBatch batch(law, 4);
  const auto inputs = toy_inputs(4);
  const TemporaryFolder folder;
  const auto run = [&]
  {
    for (const auto & name : batch.input_names())
      batch.set_input(name, inputs.at(name).contiguous().const_data_ptr<double>());
    EXPECT_TRUE(batch.evaluate().ok());
    return std::vector<double>(batch.output("stress"), batch.output("stress") + 24);
  };
  const auto before = run();
  EXPECT_EQ(batch.verdict().weights_version, 1u);
  const auto file = folder.path() / "w.safetensors";
  write_file(file, safetensors({{"gain", {2.0}}}));
  EXPECT_EQ(batch.update_weights(file.string()), 2u);
  EXPECT_EQ(std::vector<double>(batch.output("stress"), batch.output("stress") + 24), before);
  EXPECT_NE(run(), before);
  EXPECT_EQ(batch.verdict().weights_version, 2u);
}

TEST(Weights, a_call_may_keep_to_older_ones)
{
  const WeightedToy toy;
  const auto law = toy.load();
  const auto inputs = toy_inputs(9);
  const auto old = law->weights();
  const auto expected = law->forward(inputs);
  law->update_weights(gain_of(2.0));
  const auto found = law->evaluate(inputs, {.weights = old});
  EXPECT_EQ(found.weights_version, 1u);
  EXPECT_TRUE(same_bits(found.outputs.at("stress"), expected.at("stress")));
}

namespace
{
WeightStream::Options by_hand(std::vector<std::string> & errors)
{
  return {.interval = std::chrono::milliseconds(0),
          .on_error = [&](const std::string & error) { errors.push_back(error); }};
}

/// As a trainer does.
void publish(const fs::path & file, const std::string & bytes)
{
  const auto hidden = file.parent_path() / ("." + file.filename().string());
  write_file(hidden, bytes);
  fs::rename(hidden, file);
}
}

TEST(WeightStreams, follow_a_file_that_is_replaced)
{
  const WeightedToy toy;
  const std::shared_ptr<Model> law = toy.load();
  const TemporaryFolder folder;
  const auto file = folder.path() / "latest.safetensors";
  std::vector<std::string> errors;
  WeightStream stream(law, file.string(), by_hand(errors));
  EXPECT_FALSE(stream.poll()); // not there yet
  for (const double gain : {2.0, 3.0})
  {
    publish(file, safetensors({{"gain", {gain}}}));
    EXPECT_TRUE(stream.poll());
    EXPECT_FALSE(stream.poll());
    expect_gain(*law, gain);
  }
  EXPECT_EQ(stream.status().updates, 2u);
  EXPECT_EQ(stream.status().version, 3u);
  EXPECT_EQ(stream.status().file, file.string());
  EXPECT_TRUE(errors.empty());
}

TEST(WeightStreams, wait_for_files_to_be_complete)
{
  const WeightedToy toy;
  const std::shared_ptr<Model> law = toy.load();
  const TemporaryFolder folder;
  const auto file = folder.path() / "latest.safetensors";
  const auto whole = safetensors({{"gain", {2.0}}});
  std::vector<std::string> errors;
  WeightStream stream(law, file.string(), by_hand(errors));
  for (const std::size_t length : {std::size_t(3), std::size_t(30), whole.size() - 4})
  {
    write_file(file, whole.substr(0, length)); // it grows between looks
    EXPECT_FALSE(stream.poll());
  }
  EXPECT_TRUE(errors.empty());
  EXPECT_FALSE(stream.poll()); // and then it does not any more
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_PRED_FORMAT2(mentions, errors[0], (Words{file.string(), "truncated"}));
  EXPECT_FALSE(stream.poll());
  EXPECT_EQ(errors.size(), 1u); // said once
  publish(file, whole);
  EXPECT_TRUE(stream.poll());
  expect_gain(*law, 2.0);
}

TEST(WeightStreams, take_the_newest_of_a_folder_and_report_what_is_refused)
{
  const WeightedToy toy;
  const std::shared_ptr<Model> law = toy.load();
  const TemporaryFolder folder;
  std::vector<std::string> errors;
  WeightStream stream(law, folder.path().string(), by_hand(errors));
  EXPECT_FALSE(stream.poll());
  const auto now = fs::file_time_type::clock::now();
  const auto add = [&](const std::string & name, const std::string & bytes, int seconds)
  {
    publish(folder.path() / name, bytes);
    fs::last_write_time(folder.path() / name, now + std::chrono::seconds(seconds));
  };
  add("step1.safetensors", safetensors({{"gain", {2.0}}}), 1);
  add("step2.safetensors", safetensors({{"gain", {3.0}}}), 2);
  write_file(folder.path() / ".step9.safetensors", "being written");
  write_file(folder.path() / "notes.txt", "not weights");
  EXPECT_TRUE(stream.poll());
  expect_gain(*law, 3.0);
  EXPECT_FALSE(stream.poll()); // the older one is of no interest any more
  add("step3.safetensors", safetensors({{"gain", {std::nan("")}}}), 3);
  EXPECT_FALSE(stream.poll());
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_PRED_FORMAT2(mentions, errors[0], (Words{"'gain'", "NaN"}));
  EXPECT_EQ(stream.status().errors, 1u);
  expect_gain(*law, 3.0);
  add("step4.safetensors", safetensors({{"gain", {1.5}}}), 4);
  EXPECT_TRUE(stream.poll());
  expect_gain(*law, 1.5);
}

TEST(WeightStreams, have_a_thread_of_their_own)
{
  const WeightedToy toy;
  const std::shared_ptr<Model> law = toy.load();
  const TemporaryFolder folder;
  const auto file = folder.path() / "latest.safetensors";
  {
    WeightStream::Options options;
    options.interval = std::chrono::milliseconds(1);
    WeightStream stream(law, file.string(), options);
    for (int k = 1; k <= 5; k++)
    {
      publish(file, safetensors({{"gain", {double(k)}}}));
      while (stream.status().updates < std::uint64_t(k))
        law->forward(toy_inputs(8));
    }
    EXPECT_EQ(stream.status().version, 6u);
  }
  publish(file, safetensors({{"gain", {9.0}}})); // nobody looks any more
  EXPECT_EQ(gain_in(*law), 5.0);
}
