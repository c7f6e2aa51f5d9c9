// How a batch is cut into chunks of rows, by the memory that a row takes.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "aoti/Want.h"

namespace matlaw::aoti
{
/// What a user or the kind of graphs says of chunks.
struct Chunking
{
  /// Largest number of rows of a chunk; 0: by cache size
  std::int64_t max_rows = 0;
  /// Bytes of all chunks that run at once; 0: no bound
  std::int64_t max_bytes = 0;
  /// Fewest rows for which a graph call is worth its overhead
  std::int64_t min_rows = 8;
};

/// Rows of a chunk and the number of chunks that run at once, for each thing that a call may want.
///
/// Some arrays are needed by few rows: of those that no kernel can solve for, of those that take substeps where these
/// are allowed. Chunks are not made smaller for the cache's sake then; but all rows might need them, so a bound on the
/// bytes holds for these arrays too.
class ChunkPlan
{
public:
  using ByWant = std::array<std::int64_t, 3>;

  struct Cut
  {
    std::int64_t rows;
    std::int64_t threads;
  };

  ChunkPlan() = default;
  /// Bytes that a row of a chunk takes, those that it may take besides, and those of substeps where it takes these.
  ChunkPlan(const ByWant & bytes_per_row, const ByWant & rare_bytes_per_row, const ByWant & substep_bytes_per_row,
            const Chunking & chunking);

  /// Throws FatalError naming `model` when chunking.max_bytes holds no chunk.
  void require_room(const std::string & model, bool substeps) const;
  /// For a call that may take `threads` threads and has more rows than they can take at once.
  Cut cut(Want want, std::int64_t threads, bool substeps) const;
  /// For a call of `rows` rows: smaller chunks when there are not enough for all threads, as long as each has some
  /// work; fewer threads where the work does not pay for waking them. `seconds` of a row on one thread; 0: not known.
  Cut cut(Want want, std::int64_t threads, bool substeps, std::int64_t rows, double seconds) const;
  /// Bytes of the chunks that a call has at once, whatever it wants.
  std::int64_t most_bytes(std::int64_t threads, bool substeps) const;

private:
  std::int64_t bytes(std::size_t want, bool substeps) const
  {
    return _bytes_per_row[want] + _rare_bytes_per_row[want] + (substeps ? _substep_bytes_per_row[want] : 0);
  }

  ByWant _bytes_per_row{}, _rare_bytes_per_row{}, _substep_bytes_per_row{}, _chunk_rows{};
  std::int64_t _max_bytes = 0, _min_rows = 64;
};
}
