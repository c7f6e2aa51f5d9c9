// The copies of a law, one for each device of a scheduler, and the threads that they run in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "RowSplit.h"
#include "WorkerPool.h"
#include "matlaw/dispatch/DispatchedModel.h"

namespace matlaw::dispatch
{
class Progress;

/// Rows of a call and the copy that they were given to.
struct Chunk
{
  std::int64_t first;
  std::int64_t rows;
  /// Number of the device, and what it is
  std::size_t number;
  at::Device device;
  const Model & law;
};

class Copies
{
public:
  /// Throws FatalError when the copies are not of one law and dtype, or one is not on its device.
  Copies(std::shared_ptr<const Scheduler> scheduler, const DispatchedModel::Loader & load);

  const Scheduler & scheduler() const { return *_scheduler; }
  std::size_t size() const { return _copies.size(); }
  Model & operator[](std::size_t number) { return *_copies.at(number); }

  /// Hands the rows of a call to the copies, in chunks: `action` is called in the thread of the copy's device, which
  /// has its rows of `row_parameters` then. Returns when no chunk is under way any more; throws AggregateError for what
  /// `action` threw.
  void run(std::int64_t rows, const RowSplit & row_parameters, const std::function<void(const Chunk &)> & action);

private:
  void run_chunk(const Chunk & chunk, Progress & progress, const RowSplit & row_parameters,
                 const std::function<void(const Chunk &)> & action) noexcept;

  std::shared_ptr<const Scheduler> _scheduler;
  std::vector<std::unique_ptr<Model>> _copies;
  /// The copies' threads; after them, so that it goes first
  std::unique_ptr<WorkerPool, WorkerPool::Deleter> _pool;
};
}
