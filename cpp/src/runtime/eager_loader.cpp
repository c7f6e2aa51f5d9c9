#include "matlaw/eager_loader.h"

#include <atomic>
#include <filesystem>
#include <string>

#include <dlfcn.h>

namespace matlaw
{
static std::atomic<EagerLoader> registered = nullptr;

void register_eager_loader(EagerLoader loader)
{
  registered = loader;
}

EagerLoader eager_loader()
{
  if (const auto loader = registered.load())
    return loader;
  const std::string remedy = "Link matlaw::eager (libmatlaw_eager.so) and, in a program that is not Python, libpython "
                             "(CMake: Python3::Python) into this program.";
  // libmatlaw_eager leaves the symbols of Python to the process; without them it cannot be loaded.
  if (!dlsym(RTLD_DEFAULT, "PyGILState_Ensure"))
    throw FatalError("Eager evaluation needs Python, which this process does not have. " + remedy);
  Dl_info self;
  std::filesystem::path folder;
  if (dladdr(reinterpret_cast<const void *>(&register_eager_loader), &self) && self.dli_fname)
    folder = std::filesystem::path(self.dli_fname).parent_path();
  // It registers itself, and stays loaded: what Python holds refers to it.
  if (!dlopen((folder / "libmatlaw_eager.so").c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE))
    throw FatalError(std::string("The eager runtime cannot be loaded (") + dlerror() + "). " + remedy);
  if (const auto loader = registered.load())
    return loader;
  throw FatalError("The libmatlaw_eager.so in '" + folder.string() +
                   "' belongs to another libmatlaw. Reinstall matlaw.");
}
}
