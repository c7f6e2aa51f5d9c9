#include "graph/UnpackedArchive.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <caffe2/serialize/inline_container.h>

#include "matlaw/errors.h"

namespace matlaw::graph
{
namespace fs = std::filesystem;

static const std::string prefix = "matlaw-unpacked-";

/// A descriptor that holds the lock on a folder; negative when another process has it.
static int lock_folder(const fs::path & folder)
{
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) == 0)
    return descriptor;
  if (descriptor >= 0)
    ::close(descriptor);
  return -1;
}

/// Removes folders whose owner is gone. Folders of other users cannot be removed, and are left.
static void remove_orphans(const fs::path & parent)
{
  std::error_code ignored;
  for (auto entry = fs::directory_iterator(parent, fs::directory_options::skip_permission_denied, ignored);
       !ignored && entry != fs::directory_iterator(); entry.increment(ignored))
  {
    const auto name = entry->path().filename().string();
    if (!name.starts_with(prefix))
      continue;
    const auto owner = std::strtol(name.c_str() + prefix.size(), nullptr, 10);
    struct stat status = {};
    if (owner <= 0 || lstat(entry->path().c_str(), &status) != 0 || !S_ISDIR(status.st_mode) ||
        status.st_uid != geteuid())
      continue;
    if (kill(pid_t(owner), 0) == 0 || errno != ESRCH)
      continue;
    const int lock = lock_folder(entry->path());
    if (lock < 0)
      continue;
    std::error_code failed;
    fs::remove_all(entry->path(), failed);
    ::close(lock);
  }
}

UnpackedArchive::UnpackedArchive(const std::string & archive)
{
  const auto parent = fs::temp_directory_path();
  remove_orphans(parent);
  auto name = (parent / (prefix + std::to_string(getpid()) + "-XXXXXX")).string();
  if (!mkdtemp(name.data()))
    throw FatalError("Cannot make a folder in '" + parent.string() + "' to unpack '" + archive +
                     "': " + std::strerror(errno) + ". Set TMPDIR to a folder that can be written.");
  _folder = name;
  _lock = lock_folder(_folder);
  try
  {
    caffe2::serialize::PyTorchStreamReader reader(archive);
    for (const auto & record : reader.getAllRecords())
    {
      const fs::path relative = record;
      if (relative.is_absolute() || record.find("..") != std::string::npos)
        throw FatalError("'" + archive + "' holds the suspicious entry '" + record + "'.");
      fs::create_directories((_folder / relative).parent_path());
      const auto [bytes, size] = reader.getRecord(record);
      std::ofstream file(_folder / relative, std::ios::binary);
      file.write(static_cast<const char *>(bytes.get()), std::streamsize(size));
      file.close();
      if (!file)
        throw FatalError("No room in '" + parent.string() + "' to unpack '" + archive +
                         "'. Free some, or set TMPDIR to another folder.");
    }
  }
  catch (const FatalError &)
  {
    remove();
    throw;
  }
  catch (const std::exception & error)
  {
    remove();
    const std::string what = error.what();
    throw FatalError("'" + archive + "' is not a readable .pt2 archive (" + what.substr(0, what.find('\n')) +
                     "). Regenerate the artifact via matlaw-compile.");
  }
}

UnpackedArchive::~UnpackedArchive()
{
  remove();
}

void UnpackedArchive::remove()
{
  std::error_code failed;
  fs::remove_all(_folder, failed);
  if (_lock >= 0)
    ::close(_lock);
  _lock = -1;
}
}
