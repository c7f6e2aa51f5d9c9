// What the chunks of one call share.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "matlaw/dispatch/AggregateError.h"

namespace matlaw::dispatch
{
/// How many chunks are under way, and which failed.
class Progress
{
public:
  bool cancelled() const
  {
    const std::lock_guard lock(_mutex);
    return _cancelled;
  }
  void cancel()
  {
    const std::lock_guard lock(_mutex);
    _cancelled = true;
  }
  void begin()
  {
    const std::lock_guard lock(_mutex);
    _pending++;
  }
  void end()
  {
    const std::lock_guard lock(_mutex);
    if (--_pending == 0)
      _idle.notify_all();
  }
  void fail(ChunkFailure failure, bool fatal)
  {
    const std::lock_guard lock(_mutex);
    _failures.push_back(std::move(failure));
    _cancelled |= fatal;
  }
  void wait()
  {
    std::unique_lock lock(_mutex);
    _idle.wait(lock, [this] { return _pending == 0; });
  }
  /// In the order of rows. Once, when no chunk is under way any more.
  std::vector<ChunkFailure> failures()
  {
    std::sort(_failures.begin(), _failures.end(),
              [](const auto & a, const auto & b) { return a.first_row < b.first_row; });
    return std::move(_failures);
  }

private:
  mutable std::mutex _mutex;
  std::condition_variable _idle;
  std::int64_t _pending = 0;
  bool _cancelled = false;
  std::vector<ChunkFailure> _failures;
};

/// Whatever ends a call, its chunks have ended before.
struct WaitAtExit
{
  Progress & progress;
  ~WaitAtExit() { progress.wait(); }
};
}
