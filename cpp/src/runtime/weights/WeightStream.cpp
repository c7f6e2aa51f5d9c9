#include "matlaw/WeightStream.h"

#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <sys/stat.h>

#include "matlaw/errors.h"
#include "matlaw/logging.h"
#include "weights/safetensors.h"

namespace matlaw
{
namespace fs = std::filesystem;

namespace
{
/// One version of a file: a file that is replaced or written to gets another. Ordered by time.
struct Version
{
  std::int64_t seconds = 0, nanoseconds = 0;
  std::string file;
  std::uint64_t inode = 0;
  std::int64_t size = 0;

  auto key() const { return std::tie(seconds, nanoseconds, file, inode, size); }
  bool operator<(const Version & other) const { return key() < other.key(); }
  bool operator==(const Version & other) const { return key() == other.key(); }
};

std::optional<Version> version_of(const std::string & file)
{
  struct stat status = {};
  if (::stat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode))
    return std::nullopt;
  return Version{status.st_mtim.tv_sec, status.st_mtim.tv_nsec, file, status.st_ino, status.st_size};
}

/// What is at a path, the newest first.
std::vector<Version> versions_at(const std::string & path)
{
  std::vector<Version> found;
  std::error_code error;
  if (!fs::is_directory(path, error))
  {
    if (auto version = version_of(path))
      found.push_back(*std::move(version));
    return found;
  }
  for (auto entry = fs::directory_iterator(path, error); !error && entry != fs::directory_iterator();
       entry.increment(error))
  {
    // A hidden file is one that is being written.
    const auto name = entry->path().filename().string();
    if (name.starts_with(".") || !name.ends_with(".safetensors"))
      continue;
    if (auto version = version_of(entry->path().string()))
      found.push_back(*std::move(version));
  }
  std::sort(found.rbegin(), found.rend());
  return found;
}
}

class WeightStream::Impl
{
public:
  Impl(Update update, std::string path, Options options)
      : _update(std::move(update)),
        _path(std::move(path)),
        _options(std::move(options))
  {
    if (!_update)
      throw FatalError("WeightStream: there is no law to update.");
    if (_options.interval.count() < 0)
      throw FatalError("WeightStream: the interval must not be negative.");
    if (_options.interval.count() > 0)
      _thread = std::thread([this] { run(); });
  }
  ~Impl()
  {
    {
      const std::lock_guard lock(_mutex);
      _ending = true;
    }
    _wake.notify_all();
    if (_thread.joinable())
      _thread.join();
  }

  bool poll()
  {
    const std::lock_guard one_at_a_time(_polling);
    const auto there = versions_at(_path);
    std::erase_if(_refused, [&](const Version & version)
                  { return std::find(there.begin(), there.end(), version) == there.end(); });
    for (const auto & version : there)
    {
      if (_last && !is_newer(version))
        return false;
      if (_refused.count(version))
        continue;
      const auto taken = take(version);
      if (taken)
        return *taken;
    }
    return false;
  }

  Status status() const
  {
    const std::lock_guard lock(_mutex);
    return _status;
  }

private:
  /// A single file that is replaced by an older one is new all the same.
  bool is_newer(const Version & version) const
  {
    return version.file == _last->file ? !(version == *_last) : *_last < version;
  }

  /// True when the law has it; nothing when an older one may do.
  std::optional<bool> take(const Version & version)
  {
    try
    {
      if (const auto why = weights::incomplete(version.file); !why.empty())
      {
        // It may be on its way. Said once it has not grown between two looks.
        if (std::exchange(_growing, version) == version)
          refuse(version, "The weight file '" + version.file + "' is truncated: " + why + ".");
        return std::nullopt;
      }
      const auto number = _update(version.file);
      _last = version;
      const std::lock_guard lock(_mutex);
      _status.updates++;
      _status.version = number;
      _status.file = version.file;
      return true;
    }
    catch (const std::exception & error)
    {
      // Gone or changed meanwhile: the next look sees what is there then.
      if (const auto now = version_of(version.file); now && *now == version)
        refuse(version, error.what());
      return std::nullopt;
    }
  }

  void refuse(const Version & version, const std::string & why)
  {
    _refused.insert(version);
    {
      const std::lock_guard lock(_mutex);
      _status.errors++;
      _status.error = why;
    }
    logging::write(logging::Channel::host, logging::Level::warn, "WeightStream: " + why);
    if (_options.on_error)
      try
      {
        _options.on_error(why);
      }
      catch (...)
      {
      }
  }

  void run()
  {
    std::unique_lock lock(_mutex);
    while (!_ending)
    {
      lock.unlock();
      poll();
      lock.lock();
      _wake.wait_for(lock, _options.interval, [this] { return _ending; });
    }
  }

  Update _update;
  std::string _path;
  Options _options;
  std::mutex _polling;
  // of poll()
  std::optional<Version> _last, _growing;
  std::set<Version> _refused;

  mutable std::mutex _mutex;
  std::condition_variable _wake;
  Status _status;
  bool _ending = false;
  std::thread _thread;
};

static WeightStream::Update update_of(std::shared_ptr<Model> model)
{
  if (!model)
    throw FatalError("WeightStream: the law is a null pointer.");
  return [model = std::move(model)](const std::string & file) { return model->update_weights(file); };
}

WeightStream::WeightStream(std::shared_ptr<Model> model, const std::string & path, Options options)
    : WeightStream(update_of(std::move(model)), path, std::move(options))
{
}
WeightStream::WeightStream(std::shared_ptr<Model> model, const std::string & path)
    : WeightStream(std::move(model), path, Options())
{
}
WeightStream::WeightStream(Update update, const std::string & path, Options options)
    : _impl(std::make_unique<Impl>(std::move(update), path, std::move(options)))
{
}
WeightStream::~WeightStream() = default;

bool WeightStream::poll()
{
  return _impl->poll();
}

WeightStream::Status WeightStream::status() const
{
  return _impl->status();
}
}
