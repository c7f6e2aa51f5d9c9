// The bytes of a whole file.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace matlaw::weights
{
/// Bytes that stay where they are as long as anything holds `owner`.
struct FileView
{
  std::shared_ptr<const void> owner;
  const std::byte * data = nullptr;
  std::size_t size = 0;
};

/// Maps a file: processes that map the same file share its pages. For files that nobody writes to in place. Throws
/// FatalError when it cannot be read.
FileView map_file(const std::string & path);

/// Reads a file into memory of this process. Throws FatalError when it cannot be read.
FileView load_file(const std::string & path);
}
