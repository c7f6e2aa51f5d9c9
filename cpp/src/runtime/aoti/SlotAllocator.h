// Hands out the arena of a chunk, component by component.
#pragma once

#include "aoti/Slot.h"

namespace matlaw::aoti
{
class SlotAllocator
{
public:
  Slot allocate(std::int64_t size)
  {
    const Slot slot{_next, size};
    _next += size;
    return slot;
  }

  /// Components handed out so far
  std::int64_t size() const { return _next; }

private:
  std::int64_t _next = 0;
};
}
