#include "weights/FileView.h"

#include <cerrno>
#include <cstring>
#include <new>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "matlaw/errors.h"

namespace matlaw::weights
{
namespace
{
[[noreturn]] void refuse(const std::string & path)
{
  throw FatalError("Cannot read '" + path + "': " + std::strerror(errno) + ".");
}

class Descriptor
{
public:
  explicit Descriptor(const std::string & path) : _number(::open(path.c_str(), O_RDONLY | O_CLOEXEC))
  {
    struct stat status = {};
    if (_number < 0 || ::fstat(_number, &status) != 0)
      refuse(path);
    if (!S_ISREG(status.st_mode))
    {
      errno = EISDIR;
      refuse(path);
    }
    size = std::size_t(status.st_size);
  }
  ~Descriptor()
  {
    if (_number >= 0)
      ::close(_number);
  }
  Descriptor(const Descriptor &) = delete;
  Descriptor & operator=(const Descriptor &) = delete;

  int number() const { return _number; }
  std::size_t size = 0;

private:
  int _number;
};
}

FileView map_file(const std::string & path)
{
  const Descriptor file(path);
  if (file.size == 0)
    return {};
  void * bytes = ::mmap(nullptr, file.size, PROT_READ, MAP_SHARED, file.number(), 0);
  if (bytes == MAP_FAILED)
    refuse(path);
  const auto size = file.size;
  return {std::shared_ptr<const void>(bytes, [size](const void * p) { ::munmap(const_cast<void *>(p), size); }),
          static_cast<const std::byte *>(bytes), size};
}

FileView load_file(const std::string & path)
{
  const Descriptor file(path);
  constexpr std::align_val_t alignment{64};
  auto * bytes = static_cast<std::byte *>(::operator new(file.size + 1, alignment));
  const std::shared_ptr<const void> owner(bytes, [](const void * p)
                                          { ::operator delete(const_cast<void *>(p), std::align_val_t{64}); });
  std::size_t done = 0;
  while (done < file.size)
  {
    const auto n = ::read(file.number(), bytes + done, file.size - done);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      refuse(path);
    if (n == 0) // it became shorter: what is missing is said by whoever reads the content
      break;
    done += std::size_t(n);
  }
  return {owner, bytes, done};
}
}
