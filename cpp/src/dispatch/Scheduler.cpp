#include "matlaw/dispatch/Scheduler.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace matlaw::dispatch
{
Scheduler::~Scheduler() = default;

static void check(const DeviceConfig & config)
{
  const auto what = "Device " + config.device.str() + " of a scheduler: ";
  if (config.chunk_rows < 0)
    throw FatalError(what + "chunk_rows is " + std::to_string(config.chunk_rows) +
                     "; expected 0 (all rows at once) or more.");
  if (config.capacity < 0)
    throw FatalError(what + "capacity is " + std::to_string(config.capacity) + "; expected 0 (two chunks) or more.");
  if (config.capacity > 0 && config.chunk_rows == 0)
    throw FatalError(what + "a capacity (" + std::to_string(config.capacity) +
                     " rows) needs chunk_rows, the rows that are sent at once.");
  if (config.capacity > 0 && config.capacity < config.chunk_rows)
    throw FatalError(what + "its capacity of " + std::to_string(config.capacity) + " rows is below one chunk of " +
                     std::to_string(config.chunk_rows) + " rows.");
  if (!std::isfinite(config.priority))
    throw FatalError(what + "its priority is not a finite number.");
}

Scheduler::Scheduler(std::vector<DeviceConfig> devices) : _devices(std::move(devices))
{
  if (_devices.empty())
    throw FatalError("A scheduler needs one device at least.");
  for (auto & config : _devices)
  {
    check(config);
    if (config.capacity == 0)
      config.capacity = 2 * config.chunk_rows;
  }
}

std::int64_t Scheduler::room_for(std::size_t device, std::int64_t held, std::int64_t rows) const
{
  const auto & config = _devices[device];
  if (config.chunk_rows == 0)
    return rows;
  const auto chunk = std::min(rows, config.chunk_rows);
  return held + chunk <= config.capacity ? chunk : 0;
}
}
