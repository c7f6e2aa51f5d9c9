// Which device of a dispatched law takes which rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <c10/core/Device.h>

#include "matlaw/errors.h"

namespace matlaw::dispatch
{
/// A device, and how much it is given.
struct DeviceConfig
{
  at::Device device = at::kCPU;
  /// Rows that are sent to it at once. 0: all that there are
  std::int64_t chunk_rows = 0;
  /// Rows that it holds at most, those that run and those that wait. 0: two chunks, so that one waits while one runs
  std::int64_t capacity = 0;
  /// Of the devices with room, the one with the highest priority takes the next chunk; of equals the one that holds
  /// the fewest rows
  double priority = 1.0;
};

/// The next chunk of a call: `rows` rows for devices()[device].
struct Assignment
{
  std::size_t device;
  std::int64_t rows;
};

/// Splits calls over devices. Keeps no state of a call, so several laws may share one.
class Scheduler
{
public:
  virtual ~Scheduler();

  /// Each has a worker thread and a copy of the law of its own. The list never changes.
  const std::vector<DeviceConfig> & devices() const noexcept { return _devices; }

  /// Who takes the next chunk of the `rows` rows (1 or more) that a call has left; nothing while all are full.
  /// `held[i]` counts the rows that devices()[i] holds, of all calls. An idle device must be able to take something.
  virtual std::optional<Assignment> next(const std::vector<std::int64_t> & held, std::int64_t rows) const = 0;

protected:
  /// Throws FatalError for an empty list and for numbers out of range, a capacity below one chunk above all.
  explicit Scheduler(std::vector<DeviceConfig> devices);

  /// Rows of the next chunk on a device; 0 when it has no room for them.
  std::int64_t room_for(std::size_t device, std::int64_t held, std::int64_t rows) const;

private:
  std::vector<DeviceConfig> _devices;
};
}
