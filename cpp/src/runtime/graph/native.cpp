// Graphs as native kernels: shared libraries with the interface of <matlaw/native/abi.h>.
#include "graph/Graph.h"

#include <utility>

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include "artifact/file_bytes.h"
#include "matlaw/errors.h"
#include "matlaw/native/abi.h"

namespace matlaw::graph
{
namespace
{
/// A shared library that is in memory only as long as this object lives.
///
/// It is loaded from an anonymous copy of the file: the loader identifies libraries by path, so a kernel that was
/// recompiled in place would otherwise silently stay the old one in a running process, and a file that is
/// overwritten while it is mapped would take the process down.
class Library
{
public:
  explicit Library(const std::string & path)
  {
    const auto bytes = artifact::read_bytes(path);
    _descriptor = memfd_create("matlaw-kernel", MFD_CLOEXEC);
    if (_descriptor >= 0 && write_all(bytes))
      _handle = dlopen(("/proc/self/fd/" + std::to_string(_descriptor)).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!_handle) // no /proc, or anonymous files may not be executed here
      _handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!_handle)
    {
      const char * reason = dlerror();
      const std::string what = "Cannot load the native kernel '" + path + "': " + (reason ? reason : "unknown reason") +
                               ". Regenerate the artifact via matlaw-compile.";
      close_descriptor();
      throw FatalError(what);
    }
  }
  ~Library()
  {
    if (_handle)
      dlclose(_handle);
    close_descriptor(); // after dlclose: while the library is there its path must not be given to another
  }
  Library(const Library &) = delete;
  Library & operator=(const Library &) = delete;

  void * symbol(const char * name) const { return dlsym(_handle, name); }

private:
  bool write_all(const std::string & bytes) const
  {
    std::size_t done = 0;
    while (done < bytes.size())
    {
      const auto n = ::write(_descriptor, bytes.data() + done, bytes.size() - done);
      if (n <= 0)
        return false;
      done += std::size_t(n);
    }
    return true;
  }
  void close_descriptor()
  {
    if (_descriptor >= 0)
      ::close(_descriptor);
    _descriptor = -1;
  }

  int _descriptor = -1;
  void * _handle = nullptr;
};

class NativeGraph final : public Graph
{
public:
  explicit NativeGraph(const std::string & path) : _library(path)
  {
    const auto * version = static_cast<const std::int32_t *>(_library.symbol("matlaw_abi_version"));
    const auto * lanes = static_cast<const std::int32_t *>(_library.symbol("matlaw_lanes"));
    _function = reinterpret_cast<native::GraphFunction>(_library.symbol("matlaw_graph"));
    const std::string remedy = ". Regenerate the artifact via matlaw-compile.";
    if (!version || !lanes || !_function)
      throw FatalError("'" + path + "' is not a native kernel: a symbol matlaw_* is missing" + remedy);
    if (*version != native::abi_version)
      throw FatalError("The native kernel '" + path + "' speaks version " + std::to_string(*version) +
                       " of the kernel interface, this runtime version " + std::to_string(native::abi_version) +
                       remedy);
    if (*lanes < 1 || native::row_block % *lanes != 0)
      throw FatalError("The native kernel '" + path + "' works on " + std::to_string(*lanes) +
                       " rows at once, which does not divide " + std::to_string(native::row_block) + remedy);
    _lanes = *lanes;
    _in_place = reinterpret_cast<native::InPlaceFunction>(_library.symbol("matlaw_in_place"));
    _solver = reinterpret_cast<native::SolveFunction>(_library.symbol("matlaw_solve"));
  }

  void run(const void * const * inputs, void * const * outputs, std::int64_t ld, std::int64_t rows) const override
  {
    _function(inputs, outputs, ld, (rows + _lanes - 1) / _lanes * _lanes);
  }

  native::InPlaceFunction in_place() const noexcept override { return _in_place; }

  native::SolveFunction solver() const noexcept override { return _solver; }

private:
  Library _library;
  native::GraphFunction _function = nullptr;
  native::InPlaceFunction _in_place = nullptr;
  native::SolveFunction _solver = nullptr;
  std::int64_t _lanes = native::row_block;
};
}

std::unique_ptr<Graph> load_native(const std::string & path)
{
  return std::make_unique<NativeGraph>(path);
}
}
