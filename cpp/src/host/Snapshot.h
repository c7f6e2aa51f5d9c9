// The bytes of a saved state: little-endian words with a checksum at the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "matlaw/Span.h"

namespace matlaw::host
{
/// Appends words to a growing buffer.
class SnapshotWriter
{
public:
  void integer(std::uint64_t value);
  void text(const std::string & value);
  void reals(Span<const double> values);
  /// The bytes, checksum appended.
  std::vector<std::byte> finish();

private:
  std::vector<std::byte> _bytes;
};

/// Reads the words back in the same order. Throws FatalError when bytes are missing, left over or changed.
class SnapshotReader
{
public:
  explicit SnapshotReader(Span<const std::byte> bytes);
  std::uint64_t integer();
  std::string text();
  void reals(Span<double> values);
  /// To be called last: nothing may be left over.
  void finish() const;

private:
  const std::byte * take(std::uint64_t count);

  Span<const std::byte> _bytes;
  std::size_t _position = 0;
};
}
