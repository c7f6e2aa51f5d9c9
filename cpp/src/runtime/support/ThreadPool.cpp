#include "support/ThreadPool.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include <unistd.h>

#include <ATen/Parallel.h>

namespace matlaw::support
{
namespace
{
using Work = std::function<void(std::int64_t, std::int64_t)>;

thread_local bool inside_helper = false;

/// Looks for a while before a thread goes to sleep: a host calls again soon, and to wake a thread takes longer than
/// many calls do. False when the time is over.
template <typename Done>
bool look_for(const Done & done)
{
  constexpr auto while_awake = std::chrono::microseconds(50);
  const auto end = std::chrono::steady_clock::now() + while_awake;
  do
  {
    for (int i = 0; i < 32; i++)
    {
      if (done())
        return true;
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

/// One call of parallel_for.
struct Job
{
  const Work * work;
  std::int64_t tasks;
  std::atomic<std::int64_t> next{0};
  std::mutex mutex;
  std::exception_ptr error;

  void run(std::int64_t worker)
  {
    for (auto task = next.fetch_add(1); task < tasks; task = next.fetch_add(1))
      try
      {
        (*work)(task, worker);
      }
      catch (...)
      {
        const std::lock_guard lock(mutex);
        if (!error)
          error = std::current_exception();
        next.store(tasks);
      }
  }
};

class Pool
{
public:
  ~Pool()
  {
    {
      const std::lock_guard lock(_mutex);
      _stop = true;
    }
    _wake.notify_all();
    for (auto & helper : _helpers)
      helper.join();
  }

  /// False when another call has the helpers.
  bool try_run(Job & job, std::int64_t threads)
  {
    std::unique_lock turn(_turn, std::try_to_lock);
    if (!turn)
      return false;
    {
      const std::lock_guard lock(_mutex);
      while (std::int64_t(_helpers.size()) + 1 < threads)
        _helpers.emplace_back([this, worker = std::int64_t(_helpers.size()) + 1] { help(worker); });
      _job = &job;
      _threads = threads;
      _generation++;
    }
    _wake.notify_all();
    job.run(0);
    std::unique_lock lock(_mutex);
    _job = nullptr; // a helper that wakes only now finds nothing to do
    if (_active > 0)
    {
      lock.unlock();
      look_for([this] { return _active == 0; });
      lock.lock();
    }
    _idle.wait(lock, [this] { return _active == 0; });
    return true;
  }

private:
  void help(std::int64_t worker)
  {
    inside_helper = true;
    std::uint64_t seen = 0;
    std::unique_lock lock(_mutex);
    while (true)
    {
      lock.unlock();
      look_for([&] { return _stop || _generation != seen; });
      lock.lock();
      _wake.wait(lock, [&] { return _stop || (_job && _generation != seen); });
      if (_stop)
        return;
      seen = _generation;
      if (worker >= _threads)
        continue;
      Job & job = *_job;
      _active++;
      lock.unlock();
      job.run(worker);
      lock.lock();
      if (--_active == 0)
        _idle.notify_one();
    }
  }

  std::mutex _turn;
  std::mutex _mutex;
  std::condition_variable _wake;
  std::condition_variable _idle;
  std::vector<std::thread> _helpers;
  Job * _job = nullptr;
  std::int64_t _threads = 0;
  // Changed under the lock, and looked at without.
  std::atomic<std::int64_t> _active = 0;
  std::atomic<std::uint64_t> _generation = 0;
  std::atomic<bool> _stop = false;
};

/// The pool of this process. A child of fork() has none of its parent's threads, so it gets a pool of its own; the
/// parent's is left alone there, for its locks may be held by threads that do not exist.
Pool & pool()
{
  static std::mutex mutex;
  static Pool * current = nullptr;
  static pid_t owner = 0;
  const std::lock_guard lock(mutex);
  if (!current || owner != getpid())
  {
    // Never destroyed: helpers may still wait when statics die, and joining them from a library's exit can hang.
    current = new Pool;
    owner = getpid();
  }
  return *current;
}
}

void parallel_for(std::int64_t tasks, std::int64_t threads, const Work & work)
{
  Job job;
  job.work = &work;
  job.tasks = tasks;
  threads = std::min(threads, tasks);
  if (threads <= 1 || inside_helper || at::in_parallel_region() || !pool().try_run(job, threads))
    job.run(0);
  if (job.error)
    std::rethrow_exception(job.error);
}
}
