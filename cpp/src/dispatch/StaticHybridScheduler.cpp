#include "matlaw/dispatch/StaticHybridScheduler.h"

#include <string>
#include <utility>

namespace matlaw::dispatch
{
StaticHybridScheduler::StaticHybridScheduler(std::vector<DeviceConfig> devices, CpuDevices cpus)
    : Scheduler(std::move(devices))
{
  std::size_t n_cpus = 0;
  for (std::size_t i = 0; i < this->devices().size(); i++)
  {
    const auto & config = this->devices()[i];
    if (this->devices().size() > 1 && config.chunk_rows == 0)
      throw FatalError("StaticHybridScheduler: device " + config.device.str() +
                       " has no chunk_rows, so it would take all rows and leave none to the others.");
    if (config.device.is_cpu() && ++n_cpus > 1 && cpus == CpuDevices::ONE)
      throw FatalError("StaticHybridScheduler: at most one CPU may be listed, got a second one (" +
                       config.device.str() + "); one runs its chunks on all cores already.");
    for (std::size_t j = 0; j < i && !config.device.is_cpu(); j++)
      if (this->devices()[j].device == config.device)
        throw FatalError("StaticHybridScheduler: device " + config.device.str() + " is listed twice.");
  }
}

StaticHybridScheduler::~StaticHybridScheduler() = default;

std::optional<Assignment> StaticHybridScheduler::next(const std::vector<std::int64_t> & held, std::int64_t rows) const
{
  std::optional<Assignment> best;
  for (std::size_t i = 0; i < devices().size(); i++)
  {
    const auto chunk = room_for(i, held[i], rows);
    if (chunk == 0)
      continue;
    const auto rank = [&](std::size_t k) { return std::pair(devices()[k].priority, -held[k]); };
    if (!best || rank(i) > rank(best->device))
      best = {i, chunk};
  }
  return best;
}
}
