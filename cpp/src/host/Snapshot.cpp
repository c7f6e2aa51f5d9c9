#include "Snapshot.h"

#include <bit>

#include "matlaw/errors.h"

namespace matlaw::host
{
namespace
{
constexpr std::size_t word = 8;

/// FNV-1a, 64 bit.
std::uint64_t checksum(Span<const std::byte> bytes)
{
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const std::byte b : bytes)
    hash = (hash ^ static_cast<std::uint64_t>(b)) * 0x100000001b3U;
  return hash;
}

std::uint64_t load_word(const std::byte * from)
{
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < word; ++i)
    value |= static_cast<std::uint64_t>(from[i]) << (8 * i);
  return value;
}

[[noreturn]] void damaged()
{
  throw FatalError("restore: the saved state is damaged or incomplete; save it again from a running batch");
}
}

void SnapshotWriter::integer(std::uint64_t value)
{
  for (std::size_t i = 0; i < word; ++i)
    _bytes.push_back(static_cast<std::byte>(value >> (8 * i)));
}

void SnapshotWriter::text(const std::string & value)
{
  integer(value.size());
  for (const char c : value)
    _bytes.push_back(static_cast<std::byte>(c));
}

void SnapshotWriter::reals(Span<const double> values)
{
  _bytes.reserve(_bytes.size() + word * values.size());
  for (const double value : values)
    integer(std::bit_cast<std::uint64_t>(value));
}

std::vector<std::byte> SnapshotWriter::finish()
{
  integer(checksum(_bytes));
  return std::move(_bytes);
}

SnapshotReader::SnapshotReader(Span<const std::byte> bytes)
{
  if (bytes.size() < word ||
      load_word(bytes.data() + bytes.size() - word) != checksum(bytes.subspan(0, bytes.size() - word)))
    damaged();
  _bytes = bytes.subspan(0, bytes.size() - word);
}

const std::byte * SnapshotReader::take(std::uint64_t count)
{
  if (count > _bytes.size() - _position)
    damaged();
  const std::byte * from = _bytes.data() + _position;
  _position += static_cast<std::size_t>(count);
  return from;
}

std::uint64_t SnapshotReader::integer()
{
  return load_word(take(word));
}

std::string SnapshotReader::text()
{
  const std::uint64_t length = integer();
  const std::byte * from = take(length);
  return {reinterpret_cast<const char *>(from), static_cast<std::size_t>(length)};
}

void SnapshotReader::reals(Span<double> values)
{
  for (double & value : values)
    value = std::bit_cast<double>(integer());
}

void SnapshotReader::finish() const
{
  if (_position != _bytes.size())
    damaged();
}
}
