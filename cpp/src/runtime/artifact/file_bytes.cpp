#include "artifact/file_bytes.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "matlaw/errors.h"

namespace matlaw::artifact
{
std::string read_bytes(const std::string & path)
{
  std::error_code ignored;
  std::ifstream file;
  if (std::filesystem::is_directory(path, ignored))
    errno = EISDIR;
  else if (const auto status = std::filesystem::status(path, ignored);
           std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    throw FatalError("Cannot read '" + path + "': it is no regular file."); // a pipe would be waited for
  else
    file.open(path, std::ios::binary);
  if (!file.is_open())
    throw FatalError("Cannot read '" + path + "': " + std::strerror(errno) + ".");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}
}
