// Keeps calls and updates of what they read apart.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace matlaw::dispatch
{
/// Lets calls pass together and an update alone; an update that waits goes before calls that come later.
class Gate
{
public:
  void begin_call()
  {
    std::unique_lock lock(_mutex);
    _changed.wait(lock, [this] { return _updates == 0; });
    _calls++;
  }
  void end_call()
  {
    const std::lock_guard lock(_mutex);
    if (--_calls == 0)
      _changed.notify_all();
  }
  template <typename Action>
  void update(const Action & action)
  {
    std::unique_lock lock(_mutex);
    _updates++;
    _changed.wait(lock, [this] { return _calls == 0; });
    try
    {
      action(); // with the lock: one update at a time
    }
    catch (...)
    {
      end_update();
      throw;
    }
    end_update();
  }

private:
  void end_update()
  {
    if (--_updates == 0)
      _changed.notify_all();
  }

  std::mutex _mutex;
  std::condition_variable _changed;
  std::int64_t _calls = 0, _updates = 0;
};

/// A call that runs.
class Passing
{
public:
  explicit Passing(Gate & gate) : _gate(gate) { _gate.begin_call(); }
  ~Passing() { _gate.end_call(); }
  Passing(const Passing &) = delete;
  Passing & operator=(const Passing &) = delete;

private:
  Gate & _gate;
};
}
