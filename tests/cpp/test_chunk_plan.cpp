// How a batch is cut for threads.
#include <gtest/gtest.h>

#include "aoti/ChunkPlan.h"
#include "matlaw/native/abi.h"

namespace matlaw::aoti
{
namespace
{
constexpr ChunkPlan::ByWant light{100, 400, 400}, none{};

std::int64_t chunks(const ChunkPlan::Cut & cut, std::int64_t rows)
{
  return (rows + cut.rows - 1) / cut.rows;
}
}

TEST(ChunkPlan, threads_have_several_chunks_each_and_no_chunk_is_too_short)
{
  const ChunkPlan plan(light, none, none, {});
  for (const std::int64_t rows : {4096, 8192, 65536})
  {
    const auto dear = plan.cut(Want::VALUES, 2, false, rows, 1e-6);
    EXPECT_EQ(dear.threads, 2);
    EXPECT_GE(chunks(dear, rows), 16);
    EXPECT_EQ(dear.rows / native::row_block % 2, 1); // no power of two between components
    const auto cheap = plan.cut(Want::VALUES, 2, false, rows, 1e-8);
    EXPECT_GE(double(cheap.rows) * 1e-8, 8e-6);
  }
}

TEST(ChunkPlan, calls_that_are_not_worth_a_thread_stay_on_one)
{
  const ChunkPlan plan(light, none, none, {});
  EXPECT_EQ(plan.cut(Want::VALUES, 2, false, 1024, 1e-8).threads, 1);
  EXPECT_EQ(plan.cut(Want::VALUES, 2, false, 64, 1e-6).threads, 1);
}

TEST(ChunkPlan, graphs_that_are_dear_to_call_get_the_rows_that_they_are_worth)
{
  const ChunkPlan plan(light, none, none, {.min_rows = 1024});
  EXPECT_GE(plan.cut(Want::VALUES, 2, false, 8192, 1e-5).rows, 1016);
}

TEST(ChunkPlan, memory_has_the_last_word)
{
  const ChunkPlan plan(light, none, none, {.max_bytes = 2 * 100 * 64});
  const auto cut = plan.cut(Want::VALUES, 2, false, 8192, 1e-6);
  EXPECT_LE(cut.rows * cut.threads * 100, 2 * 100 * 64);
}
}
