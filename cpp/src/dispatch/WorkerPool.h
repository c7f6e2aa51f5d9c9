// A thread for each device, and how many rows each device holds.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <sys/types.h>

#include "matlaw/dispatch/Scheduler.h"

namespace matlaw::dispatch
{
/// Shared by all calls of a law. A device runs its jobs one at a time, in the order they came.
class WorkerPool
{
public:
  explicit WorkerPool(std::shared_ptr<const Scheduler> scheduler);
  /// Runs what is queued still, then ends the threads. Not to be called in a child of fork(): use Deleter.
  ~WorkerPool();
  WorkerPool(const WorkerPool &) = delete;
  WorkerPool & operator=(const WorkerPool &) = delete;

  /// Leaves the pool alone in a child of fork(): its threads are in the parent, and its locks would wait for them.
  struct Deleter
  {
    void operator()(WorkerPool * pool) const;
  };

  /// Waits until the scheduler finds a device for some of `rows` rows, and reserves them there; rows == 0 goes to the
  /// first device at once. Throws FatalError in a child of fork(), which has none of the threads, and when the
  /// scheduler gives nothing though every device is idle.
  Assignment reserve(std::int64_t rows);
  /// Gives a reservation back that was not used.
  void release(const Assignment & assignment);
  /// Queues `job`, which does not throw; the rows are given back when it has run.
  void start(const Assignment & assignment, std::function<void()> job);

private:
  struct Queued
  {
    std::int64_t rows;
    std::function<void()> job;
  };

  void work(std::size_t device);

  std::shared_ptr<const Scheduler> _scheduler;
  pid_t _owner;
  std::mutex _mutex;
  std::condition_variable _room, _work;
  std::vector<std::deque<Queued>> _queues;
  std::vector<std::int64_t> _held;
  bool _stop = false;
  std::vector<std::thread> _threads;
};
}
