#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "artifact/CpuTarget.h"
#include "artifact/HitReader.h"
#include "layout.h"
#include "support/ThreadPool.h"
#include "support/rows.h"
#include "support/sha256.h"
#include "support/text.h"

using namespace matlaw;

TEST(Sha256, known_digests)
{
  // FIPS 180-4 example messages
  EXPECT_EQ(support::sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(support::sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(support::sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(support::sha256(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Text, closest_match)
{
  const std::vector<std::string> names = {"strain", "temperature", "t"};
  EXPECT_EQ(support::closest_match("strian", names), "strain");
  EXPECT_EQ(support::closest_match("temprature", names), "temperature");
  EXPECT_EQ(support::closest_match("porosity", names), "");
  EXPECT_EQ(support::shape_text({3, 5}), "(3, 5)");
  EXPECT_EQ(support::shape_text({3}), "(3,)");
}

TEST(HitReader, finds_parameters_through_comments_quotes_and_nesting)
{
  const auto hit =
      artifact::read_hit("top = 1 # [no]\n[Models] # x = 2\n  [./a]\n type = 'AOTI]Model'\n"
                         "v = \"1\n 2\"\n[../]\n[b]\n[c]\nk = 3\n[]\ntype=T\n[]\n[]\n[Other]\ntype := U\n[]");
  EXPECT_EQ(hit.at("top"), "1");
  EXPECT_EQ(hit.at("Models/a/type"), "AOTI]Model");
  EXPECT_EQ(hit.at("Models/a/v"), "1\n 2");
  EXPECT_EQ(hit.at("Models/b/c/k"), "3");
  EXPECT_EQ(hit.at("Models/b/type"), "T");
  EXPECT_EQ(hit.at("Other/type"), "U");
  EXPECT_EQ(hit.size(), 6u);
  for (const auto * broken : {"[", "[a", "a =", "a = '", "]", "= 3", "[]\n[]\n[x]\ny"})
    EXPECT_NO_THROW(artifact::read_hit(broken)) << broken;
}

TEST(CpuTarget, runs_what_it_knows_and_has)
{
  EXPECT_TRUE(artifact::cpu_runs("x86-64"));
  EXPECT_TRUE(artifact::cpu_runs(artifact::this_cpu()));
  EXPECT_FALSE(artifact::cpu_runs("x86-64-v9"));
  EXPECT_FALSE(artifact::cpu_runs("native")) << "without a record of what it needs";
  EXPECT_TRUE(artifact::cpu_runs("native", {"sse2"}));
  EXPECT_FALSE(artifact::cpu_runs("native", {"sse2", "warp_drive"}));
  EXPECT_EQ(artifact::best_target({"x86-64-v9", "x86-64"}), "x86-64");
  EXPECT_EQ(artifact::best_target({"x86-64-v9"}), "");
  // The highest that runs here, in whatever order; code for the very machine before all levels.
  EXPECT_EQ(artifact::best_target({"x86-64-v4", "x86-64", "x86-64-v3", "x86-64-v2"}), artifact::this_cpu());
  EXPECT_EQ(artifact::best_target({"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"}), artifact::this_cpu());
  EXPECT_EQ(artifact::best_target({"native", "x86-64-v4", "x86-64"}, {"sse2"}), "native");
}

TEST(ThreadPool, runs_every_task_once_whatever_the_threads)
{
  for (const int threads : {1, 2, 4, 7})
    for (const int tasks : {0, 1, 3, 100})
    {
      std::vector<std::atomic<int>> runs(tasks);
      std::atomic<int> clashes = 0;
      std::vector<std::atomic<int>> busy(threads);
      support::parallel_for(tasks, threads,
                            [&](std::int64_t task, std::int64_t worker)
                            {
                              clashes += busy.at(worker)++;
                              runs[task]++;
                              // a call from within must not wait for the helpers that run it
                              support::parallel_for(2, threads, [](std::int64_t, std::int64_t) {});
                              busy[worker]--;
                            });
      for (auto & count : runs)
        EXPECT_EQ(count, 1);
      EXPECT_EQ(clashes, 0);
    }
}

TEST(ThreadPool, passes_an_exception_on_and_goes_on)
{
  for (int attempt = 0; attempt < 3; attempt++)
    EXPECT_THROW(support::parallel_for(20, 3,
                                       [](std::int64_t task, std::int64_t)
                                       {
                                         if (task == 11)
                                           throw std::runtime_error("task");
                                       }),
                 std::runtime_error);
}

namespace
{
/// Public -> internal -> public, in chunks.
at::Tensor round_trip(const at::Tensor & tensor, const std::vector<std::int64_t> & batch,
                      const std::vector<std::int64_t> & sub_batch, const std::vector<std::int64_t> & base,
                      std::int64_t chunk, bool batch_last)
{
  const auto extent = [](const std::vector<std::int64_t> & shape)
  {
    std::int64_t size = 1;
    for (const auto n : shape)
      size *= n;
    return size;
  };
  auto shape = batch;
  shape.insert(shape.end(), sub_batch.begin(), sub_batch.end());
  shape.insert(shape.end(), base.begin(), base.end());
  const runtime::RowReader<double> reader(tensor, batch, sub_batch, base);
  const auto size = extent(sub_batch) * extent(base), all = extent(batch);
  const auto result = at::full({all * size}, -1.0, at::kDouble);
  auto * data = result.mutable_data_ptr<double>();
  const runtime::RowWriter<double> writer(batch_last ? runtime::RowPlace<double>{data, 1, all}
                                                     : runtime::RowPlace<double>{data, size, 1},
                                          extent(sub_batch), extent(base));
  for (std::int64_t first = 0; first < extent(batch); first += chunk)
  {
    const auto rows = std::min(chunk, extent(batch) - first);
    std::vector<double> slot(size * (chunk + 8), NAN);
    reader.read(first, rows, slot.data(), chunk + 8);
    support::pad_rows(slot.data(), size, chunk + 8, rows);
    for (std::int64_t c = 0; c < size; c++)
      EXPECT_EQ(slot[c * (chunk + 8) + chunk + 7], slot[c * (chunk + 8) + rows - 1]);
    writer.write(first, rows, slot.data(), chunk + 8);
  }
  return batch_last ? result.reshape({size, all}).t().reshape(shape) : result.reshape(shape);
}
}

TEST(Layout, reads_any_strides_and_broadcasts)
{
  const auto full = at::arange(4 * 5 * 2 * 3, at::kDouble).reshape({4, 5, 2, 3});
  for (const std::int64_t chunk : {1, 3, 8, 20})
    for (const bool batch_last : {false, true})
    {
      EXPECT_TRUE(at::equal(round_trip(full, {4, 5}, {2}, {3}, chunk, batch_last), full));
      EXPECT_TRUE(at::equal(round_trip(full, {4, 5, 2}, {}, {3}, chunk, batch_last), full));
      EXPECT_TRUE(at::equal(round_trip(full, {4}, {5}, {2, 3}, chunk, batch_last), full));
      const auto transposed = full.permute({1, 0, 3, 2});
      EXPECT_TRUE(at::equal(round_trip(transposed, {5, 4}, {3}, {2}, chunk, batch_last), transposed));
      const auto last = full.reshape({20, 2, 3}).permute({1, 2, 0}).contiguous().permute({2, 0, 1});
      EXPECT_TRUE(at::equal(round_trip(last, {20}, {2}, {3}, chunk, batch_last), last));
      const auto strided = full.slice(0, 1, 4, 2).slice(3, 0, 3, 2);
      EXPECT_TRUE(at::equal(round_trip(strided, {2, 5}, {2}, {2}, chunk, batch_last), strided));
      const auto row = full.select(0, 2);
      EXPECT_TRUE(at::equal(round_trip(row, {4, 5}, {2}, {3}, chunk, batch_last), row.expand({4, 5, 2, 3})));
      const auto one = full.narrow(0, 0, 1).narrow(2, 0, 1);
      EXPECT_TRUE(at::equal(round_trip(one, {4, 5}, {2}, {3}, chunk, batch_last), one.expand({4, 5, 2, 3})));
      const auto scalar = at::scalar_tensor(3.5, at::kDouble);
      EXPECT_TRUE(at::equal(round_trip(scalar, {6}, {}, {}, chunk, batch_last), scalar.expand({6})));
    }
}
