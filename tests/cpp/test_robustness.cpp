// What a long run does to a law: failures by the thousand, reloads, many threads, batches around powers of two.
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include <unistd.h>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "shared_artifacts.h"
#include "toy_law.h"

using namespace matlaw;
using namespace matlaw::toy;
namespace fs = std::filesystem;

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool sanitized = true; // whose own bookkeeping grows
#else
constexpr bool sanitized = false;
#endif

namespace
{
/// Resident memory of this process.
std::int64_t resident_bytes()
{
  std::int64_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

std::int64_t entries(const fs::path & folder)
{
  std::int64_t count = 0;
  for ([[maybe_unused]] const auto & entry : fs::directory_iterator(folder))
    count++;
  return count;
}

std::int64_t open_files()
{
  return entries("/proc/self/fd");
}

std::int64_t mappings()
{
  std::ifstream maps("/proc/self/maps");
  std::string line;
  std::int64_t count = 0;
  while (std::getline(maps, line))
    count++;
  return count;
}

/// Makes TMPDIR a folder of its own.
class OwnTemporaryFolder
{
public:
  OwnTemporaryFolder()
  {
    if (const char * previous = std::getenv("TMPDIR"))
      _previous = previous;
    setenv("TMPDIR", _folder.path().c_str(), 1);
  }
  ~OwnTemporaryFolder()
  {
    if (_previous.empty())
      unsetenv("TMPDIR");
    else
      setenv("TMPDIR", _previous.c_str(), 1);
  }
  const fs::path & path() const { return _folder.path(); }

private:
  TemporaryFolder _folder;
  std::string _previous;
};

/// Does `action` `warm_up` times, then `times` times, and expects that neither memory nor files or mappings grow in the
/// second part.
template <typename Action>
void expect_flat(int warm_up, int times, std::int64_t bytes, const Action & action)
{
  for (int i = 0; i < warm_up; i++)
    action();
  const auto memory = resident_bytes(), files = open_files(), maps = mappings();
  for (int i = 0; i < times; i++)
    action();
  EXPECT_EQ(open_files(), files);
  if (sanitized)
    return;
  EXPECT_LT(resident_bytes() - memory, bytes);
  EXPECT_LT(mappings() - maps, 10);
}
}

TEST(Robustness, ten_thousand_failing_calls_leave_memory_flat)
{
  const ToyLaw law;
  const auto model = law.load({.threads = 2, .max_chunk_rows = 8});
  auto inputs = toy_inputs(24);
  const auto expected = model->evaluate(inputs, {.jacobian = true});
  auto diverging = inputs, bad = inputs, wrong = inputs;
  diverging["s"] = inputs.at("s").clone();
  diverging["s"][5] = -100.0;
  bad["strain"] = inputs.at("strain").clone();
  bad["strain"][3] = std::numeric_limits<double>::quiet_NaN();
  wrong["strain"] = at::zeros({24, 5}, at::kDouble);
  expect_flat(200, 10000 / 4, std::int64_t(2) << 20,
              [&]
              {
                EXPECT_THROW(model->forward(diverging), ConvergenceError);
                EXPECT_THROW(model->jacobian(diverging), ConvergenceError);
                EXPECT_THROW(model->forward(bad), InputError);
                EXPECT_THROW(model->forward(wrong), FatalError);
              });
  const auto again = model->evaluate(inputs, {.jacobian = true});
  EXPECT_TRUE(same_bits(again.outputs.at("stress"), expected.outputs.at("stress")));
  EXPECT_TRUE(same_bits(again.jacobian.at("stress").at("strain"), expected.jacobian.at("stress").at("strain")));
}

TEST(Robustness, a_hundred_reloads_leave_memory_and_folders_flat)
{
  const OwnTemporaryFolder temporary;
  const ToyLaw law; // in that folder
  const auto before = entries(temporary.path());
  const auto inputs = toy_inputs(100);
  expect_flat(10, 100, std::int64_t(2) << 20, [&] { law.load({.threads = 2})->forward(inputs); });
  EXPECT_EQ(entries(temporary.path()), before);
}

TEST(Robustness, ten_thousand_failing_calls_of_a_law_with_packages)
{
  const auto stub = shared_stub("j2_viscoplastic-both");
  if (stub.empty())
    GTEST_SKIP() << no_artifacts;
  const OwnTemporaryFolder temporary;
  const auto model = load_model(stub, "model", {.backend = Backend::INDUCTOR, .threads = 1, .runtime = Runtime::AOTI});
  TensorMap inputs;
  for (std::size_t k = 0; k < model->input_names().size(); k++)
  {
    std::vector<std::int64_t> shape = {8};
    shape.insert(shape.end(), model->input_base_shapes()[k].begin(), model->input_base_shapes()[k].end());
    inputs[model->input_names()[k]] = at::zeros(shape, at::kDouble);
  }
  inputs["t"] = at::ones({8}, at::kDouble);
  inputs["strain"] = 2e-3 * at::sin(at::arange(48, at::kDouble)).reshape({8, 6});
  const auto expected = model->evaluate(inputs, {.jacobian = true});
  ASSERT_TRUE(expected.ok());
  auto config = model->solver_config(), few = config;
  few.miters = 1;
  model->set_solver_config(few);
  auto bad = inputs, wrong = inputs;
  bad["strain"] = inputs.at("strain").clone();
  bad["strain"][3] = std::numeric_limits<double>::quiet_NaN();
  wrong["strain"] = at::zeros({8, 5}, at::kDouble);
  expect_flat(200, 10000 / 4, std::int64_t(2) << 20,
              [&]
              {
                EXPECT_THROW(model->forward(inputs), ConvergenceError);
                EXPECT_FALSE(model->evaluate(inputs, {.jacobian = true}).ok());
                EXPECT_THROW(model->forward(bad), InputError);
                EXPECT_THROW(model->forward(wrong), FatalError);
              });
  EXPECT_EQ(entries(temporary.path()), 0);
  model->set_solver_config(config);
  const auto again = model->evaluate(inputs, {.jacobian = true});
  EXPECT_TRUE(same_bits(again.outputs.at("stress"), expected.outputs.at("stress")));
  EXPECT_TRUE(same_bits(again.jacobian.at("stress").at("strain"), expected.jacobian.at("stress").at("strain")));
}

TEST(Robustness, a_hundred_reloads_of_a_law_with_packages)
{
  const auto stub = shared_stub("linear_elastic-both");
  if (stub.empty())
    GTEST_SKIP() << no_artifacts;
  const OwnTemporaryFolder temporary;
  const TensorMap inputs{{"strain", at::full({100, 6}, 1e-3, at::kDouble)}};
  expect_flat(10, 100, std::int64_t(2) << 20,
              [&]
              {
                load_model(stub, "model", {.backend = Backend::INDUCTOR, .threads = 1, .runtime = Runtime::AOTI})
                    ->forward(inputs);
              });
  EXPECT_EQ(entries(temporary.path()), 0);
}

TEST(Robustness, failing_loads_leave_memory_and_folders_flat)
{
  const OwnTemporaryFolder temporary;
  const ToyLaw law;
  for (const auto & entry : fs::recursive_directory_iterator(law.folder()))
    if (entry.path().extension() == ".so")
    {
      fs::resize_file(entry.path(), 1000);
      break;
    }
  const auto before = entries(temporary.path());
  expect_flat(20, 300, std::int64_t(2) << 20, [&] { EXPECT_THROW(law.load(), FatalError); });
  EXPECT_EQ(entries(temporary.path()), before);
}

TEST(Robustness, eight_threads_load_while_four_call)
{
  const ToyLaw law;
  const auto model = law.load({.threads = 2, .max_chunk_rows = 8});
  const auto inputs = toy_inputs(100);
  auto failing = inputs;
  failing["s"] = at::full({100}, -100.0, at::kDouble);
  const auto expected = model->forward(inputs).at("stress");
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; i++)
    threads.emplace_back(
        [&]
        {
          for (int repeat = 0; repeat < 3; repeat++)
            right += same_bits(law.load({.threads = 2})->forward(inputs).at("stress"), expected);
        });
  for (int i = 0; i < 4; i++)
    threads.emplace_back(
        [&]
        {
          for (int repeat = 0; repeat < 20; repeat++)
          {
            right += same_bits(model->jacobian(inputs).first.at("stress"), expected);
            right += model->evaluate(failing).failed_rows.size() == 100;
          }
        });
  for (auto & thread : threads)
    thread.join();
  EXPECT_EQ(right, 8 * 3 + 4 * 20 * 2);
}

TEST(Robustness, batches_around_powers_of_two)
{
  const ToyLaw law;
  const auto model = law.load({.threads = 2});
  const auto one = law.load({.threads = 1, .max_chunk_rows = 8});
  for (const std::int64_t rows : {0, 1, 65535, 65536, 65537})
  {
    SCOPED_TRACE(rows);
    const auto inputs = toy_inputs(rows);
    const auto result = model->evaluate(inputs, {.jacobian = true});
    EXPECT_TRUE(result.ok());
    EXPECT_EQ(result.status.numel(), rows);
    const auto expected = toy_expected(inputs).at("stress");
    ASSERT_EQ(result.outputs.at("stress").sizes(), expected.sizes());
    EXPECT_TRUE(at::allclose(result.outputs.at("stress"), expected, 1e-12, 1e-12));
    EXPECT_EQ(result.jacobian.at("stress").at("strain").sizes(), (at::IntArrayRef{rows, 6, 6}));
    EXPECT_TRUE(same_bits(one->forward(inputs).at("stress"), result.outputs.at("stress")));
  }
}
