// Why rows of a dispatched call failed: what its copies tell, put together.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "matlaw/Failure.h"

namespace matlaw::dispatch
{
/// Chunks of one call in which rows failed.
class FailedChunks
{
public:
  /// `tell` says later why these rows of a chunk, counted from its row `first`, failed. From several threads.
  void add(std::int64_t first, std::vector<std::int64_t> failed_rows,
           std::function<std::shared_ptr<const Failure>()> tell);
  bool empty() const { return _chunks.empty(); }

  /// Once all chunks are through. `rows`: of the whole call; `typical`: see Failure; `per_row`: the parameters that
  /// have one value for each row.
  void close(std::int64_t rows, std::map<std::string, double> typical, std::set<std::string> per_row);
  bool fits(const Evaluation & evaluation) const;
  /// Asks the copies, once; tensors are on `device` then. From any thread.
  const Failure & look_into(const at::Device & device) const;

private:
  struct Failing
  {
    std::vector<std::int64_t> failed_rows;
    std::function<std::shared_ptr<const Failure>()> tell;
  };
  void append(const Failure & part, std::int64_t first, const at::Device & device) const;

  std::mutex _adding;
  /// By their first rows
  std::map<std::int64_t, Failing> _chunks;
  std::set<std::string> _per_row;
  mutable std::once_flag _once;
  mutable Failure _failure;
};
}
