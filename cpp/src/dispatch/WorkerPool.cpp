#include "WorkerPool.h"

#include <algorithm>
#include <utility>

#include <unistd.h>

namespace matlaw::dispatch
{
WorkerPool::WorkerPool(std::shared_ptr<const Scheduler> scheduler)
    : _scheduler(std::move(scheduler)),
      _owner(getpid()),
      _queues(_scheduler->devices().size()),
      _held(_scheduler->devices().size(), 0)
{
  for (std::size_t device = 0; device < _queues.size(); device++)
    _threads.emplace_back([this, device] { work(device); });
}

WorkerPool::~WorkerPool()
{
  {
    const std::lock_guard lock(_mutex);
    _stop = true;
  }
  _work.notify_all();
  for (auto & thread : _threads)
    thread.join();
}

void WorkerPool::Deleter::operator()(WorkerPool * pool) const
{
  if (pool->_owner == getpid())
    delete pool;
}

Assignment WorkerPool::reserve(std::int64_t rows)
{
  if (getpid() != _owner)
    throw FatalError(
        "A dispatched law does not survive fork(): its worker threads are in the parent process. Load it in "
        "the child.");
  std::unique_lock lock(_mutex);
  while (true)
  {
    if (rows == 0)
      return {0, 0};
    if (const auto next = _scheduler->next(_held, rows))
    {
      if (next->device >= _held.size() || next->rows < 1 || next->rows > rows)
        throw FatalError("The scheduler gives " + std::to_string(next->rows) + " of " + std::to_string(rows) +
                         " rows to device number " + std::to_string(next->device) + "; there are " +
                         std::to_string(_held.size()) + " devices.");
      _held[next->device] += next->rows;
      return *next;
    }
    if (std::all_of(_held.begin(), _held.end(), [](std::int64_t held) { return held == 0; }))
      throw FatalError("The scheduler gives " + std::to_string(rows) + " rows to no device, though all are idle.");
    _room.wait(lock);
  }
}

void WorkerPool::release(const Assignment & assignment)
{
  {
    const std::lock_guard lock(_mutex);
    _held[assignment.device] -= assignment.rows;
  }
  _room.notify_all();
}

void WorkerPool::start(const Assignment & assignment, std::function<void()> job)
{
  {
    const std::lock_guard lock(_mutex);
    _queues[assignment.device].push_back({assignment.rows, std::move(job)});
  }
  _work.notify_all();
}

void WorkerPool::work(std::size_t device)
{
  std::unique_lock lock(_mutex);
  auto & queue = _queues[device];
  while (true)
  {
    _work.wait(lock, [&] { return _stop || !queue.empty(); });
    if (queue.empty())
      return;
    Queued next = std::move(queue.front());
    queue.pop_front();
    lock.unlock();
    next.job();
    next.job = nullptr; // whatever it holds goes before its rows count as done
    lock.lock();
    _held[device] -= next.rows;
    _room.notify_all();
  }
}
}
