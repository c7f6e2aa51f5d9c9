// Everything goes to one device.
#pragma once

#include "matlaw/dispatch/Scheduler.h"

namespace matlaw::dispatch
{
/// One device, chunk by chunk: a GPU whose memory holds part of the batch, say.
class SimpleScheduler : public Scheduler
{
public:
  /// Throws FatalError as Scheduler does.
  explicit SimpleScheduler(const at::Device & device, std::int64_t chunk_rows = 0, std::int64_t capacity = 0)
      : Scheduler(std::vector<DeviceConfig>{{.device = device, .chunk_rows = chunk_rows, .capacity = capacity}})
  {
  }
  ~SimpleScheduler() override;

  std::optional<Assignment> next(const std::vector<std::int64_t> & held, std::int64_t rows) const override;
};
}
