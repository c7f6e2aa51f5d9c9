// Several devices of different speed share the rows.
#pragma once

#include <vector>

#include "matlaw/dispatch/Scheduler.h"

namespace matlaw::dispatch
{
/// How many CPU devices a list may have.
enum class CpuDevices : std::int8_t
{
  /// At most one: it runs its chunks on all cores already
  ONE,
  /// Any number, each a worker of its own: for tests, or where LoadOptions.threads gives each a part of the cores
  SEVERAL
};

/// Chunk sizes, capacities and priorities that are fixed beforehand: a chunk goes to the device with the highest
/// priority that has room for it, and waits while none has. Fast devices come by more chunks as they are done earlier.
class StaticHybridScheduler final : public Scheduler
{
public:
  /// Throws FatalError as Scheduler does, for a device without chunk_rows among several, for a device that is listed
  /// twice, and for a second CPU.
  explicit StaticHybridScheduler(std::vector<DeviceConfig> devices, CpuDevices cpus = CpuDevices::ONE);
  ~StaticHybridScheduler() override;

  std::optional<Assignment> next(const std::vector<std::int64_t> & held, std::int64_t rows) const override;
};
}
