// Follows the weights that a trainer writes.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "matlaw/Model.h"

namespace matlaw
{
/// Watches a safetensors file that a trainer replaces, or a folder to which it adds such files, and gives a law every
/// new version: the newest where several came. What is not complete yet is looked at again. A file that a law refuses
/// is reported and skipped; the law keeps its weights and the host goes on.
class WeightStream
{
public:
  /// Takes a file, returns the version of the weights; throws what Model::update_weights throws.
  using Update = std::function<std::uint64_t(const std::string & file)>;

  struct Options
  {
    /// Time between two looks; 0 for a stream without a thread, which looks when poll() is called
    std::chrono::milliseconds interval{100};
    /// Told what went wrong, once for each file, by the thread that looked
    std::function<void(const std::string & error)> on_error = {};
  };

  struct Status
  {
    /// Updates so far, and the version and the file of the last one
    std::uint64_t updates = 0;
    std::uint64_t version = 0;
    std::string file;
    /// Files that were refused so far, and what was said of the last one
    std::uint64_t errors = 0;
    std::string error;
  };

  /// `path`: a folder, or a file; neither has to be there yet. What is there is taken at the first look.
  WeightStream(std::shared_ptr<Model> model, const std::string & path, Options options);
  WeightStream(std::shared_ptr<Model> model, const std::string & path);
  WeightStream(Update update, const std::string & path, Options options);
  /// Ends the thread; an update under way is finished.
  ~WeightStream();
  WeightStream(const WeightStream &) = delete;
  WeightStream & operator=(const WeightStream &) = delete;

  /// Looks now. True when the law got new weights. Throws nothing for a file.
  bool poll();
  Status status() const;

private:
  class Impl;
  std::unique_ptr<Impl> _impl;
};
}
