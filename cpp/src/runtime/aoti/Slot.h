// Places in the arena of a chunk.
#pragma once

#include <cstdint>

namespace matlaw::aoti
{
/// A block of components in the arena of a chunk: component c of row i is at arena[(offset + c) * ld + i].
struct Slot
{
  std::int64_t offset = 0;
  std::int64_t size = 0;
};

/// Where the derivative of a variable by a seed is.
struct Block
{
  enum class Kind
  {
    ZERO,
    IDENTITY,
    STORED
  };
  Kind kind = Kind::ZERO;
  /// First component, and distance between rows of the matrix, in components
  std::int64_t offset = 0;
  std::int64_t stride = 0;
};
}
