#include "matlaw/dispatch/SimpleScheduler.h"

namespace matlaw::dispatch
{
SimpleScheduler::~SimpleScheduler() = default;

std::optional<Assignment> SimpleScheduler::next(const std::vector<std::int64_t> & held, std::int64_t rows) const
{
  if (const auto chunk = room_for(0, held[0], rows))
    return Assignment{0, chunk};
  return std::nullopt;
}
}
