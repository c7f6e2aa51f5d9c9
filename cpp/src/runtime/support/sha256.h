// SHA-256 (FIPS 180-4), so that the runtime needs no cryptography library.
#pragma once

#include <cstddef>
#include <string>

namespace matlaw::support
{
/// Lower-case hex digest of `size` bytes.
std::string sha256(const void * data, std::size_t size);
inline std::string sha256(const std::string & bytes)
{
  return sha256(bytes.data(), bytes.size());
}
}
