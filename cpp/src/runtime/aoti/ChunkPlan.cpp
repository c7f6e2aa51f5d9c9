#include "aoti/ChunkPlan.h"

#include <algorithm>

#include <unistd.h>

#include "matlaw/errors.h"
#include "matlaw/native/abi.h"
#include "support/rows.h"

namespace matlaw::aoti
{
namespace
{
std::int64_t cache_bytes()
{
  const auto bytes = sysconf(_SC_LEVEL2_CACHE_SIZE); // 0 where the system does not tell
  return bytes > 0 ? bytes : std::int64_t(1) << 20;
}

/// At most `rows`, in an odd number of blocks: components then lie no power of two apart and spread over all sets of
/// the cache.
std::int64_t odd_blocks(std::int64_t rows)
{
  const auto blocks = std::max<std::int64_t>(rows / native::row_block, 1);
  return (blocks - (blocks % 2 == 0)) * native::row_block;
}

/// Rows of a chunk whose arrays fill half the L2 cache; the other half is for tensors that stream through.
std::int64_t rows_that_fit(std::int64_t bytes_per_row, const Chunking & chunking)
{
  std::int64_t rows = cache_bytes() / 2 / std::max<std::int64_t>(bytes_per_row, 1);
  rows = std::clamp<std::int64_t>(rows, chunking.min_rows, 1024);
  if (chunking.max_rows > 0)
    rows = std::min(rows, chunking.max_rows);
  return odd_blocks(rows);
}
}

/// Work below which a thread is better left asleep.
constexpr double seconds_worth_a_thread = 100e-6;
/// Threads that share a call take chunks as they get done: the last ones end apart by the time of one chunk. So there
/// are some for each, as long as a chunk is long against taking it.
constexpr std::int64_t chunks_of_a_thread = 8;
constexpr double seconds_worth_a_chunk = 10e-6;

ChunkPlan::ChunkPlan(const ByWant & bytes_per_row, const ByWant & rare_bytes_per_row,
                     const ByWant & substep_bytes_per_row, const Chunking & chunking)
    : _bytes_per_row(bytes_per_row),
      _rare_bytes_per_row(rare_bytes_per_row),
      _substep_bytes_per_row(substep_bytes_per_row),
      _max_bytes(chunking.max_bytes),
      _min_rows(std::max<std::int64_t>(chunking.min_rows, 64))
{
  for (std::size_t want = 0; want < bytes_per_row.size(); want++)
    _chunk_rows[want] = rows_that_fit(bytes_per_row[want], chunking);
}

void ChunkPlan::require_room(const std::string & model, bool substeps) const
{
  std::int64_t most = 0;
  for (std::size_t want = 0; want < _bytes_per_row.size(); want++)
    most = std::max(most, bytes(want, substeps));
  const auto smallest = native::row_block * most;
  if (_max_bytes > 0 && _max_bytes < smallest)
    throw FatalError("LoadOptions.max_bytes is " + std::to_string(_max_bytes) + "; a call of model '" + model +
                     "' needs " + std::to_string(smallest) + " bytes for the smallest chunk, " +
                     std::to_string(native::row_block) + " rows with all derivatives" +
                     (substeps ? " in substeps" : "") + ".");
}

ChunkPlan::Cut ChunkPlan::cut(Want want, std::int64_t threads, bool substeps) const
{
  const auto rows = _chunk_rows[std::size_t(want)];
  if (_max_bytes == 0)
    return {rows, threads};
  const auto affordable = _max_bytes / std::max<std::int64_t>(bytes(std::size_t(want), substeps), 1);
  threads = std::clamp<std::int64_t>(threads, 1, affordable / native::row_block);
  return {std::min(rows, affordable / threads / native::row_block * native::row_block), threads};
}

ChunkPlan::Cut ChunkPlan::cut(Want want, std::int64_t threads, bool substeps, std::int64_t rows, double seconds) const
{
  if (seconds > 0.0)
    threads = std::clamp<std::int64_t>(std::int64_t(seconds * double(rows) / seconds_worth_a_thread), 1, threads);
  auto cut = this->cut(want, threads, substeps);
  auto wanted = support::whole_blocks((rows + cut.threads - 1) / cut.threads);
  if (cut.threads > 1 && seconds > 0.0)
    wanted = odd_blocks(std::max(wanted / chunks_of_a_thread, std::int64_t(seconds_worth_a_chunk / seconds)));
  cut.rows = std::min(cut.rows, std::max(wanted, _min_rows));
  return cut;
}

std::int64_t ChunkPlan::most_bytes(std::int64_t threads, bool substeps) const
{
  std::int64_t most = 0;
  for (std::size_t want = 0; want < _bytes_per_row.size(); want++)
  {
    const auto cut = this->cut(Want(want), threads, substeps);
    most = std::max(most, cut.threads * cut.rows * bytes(want, substeps));
  }
  return most;
}
}
