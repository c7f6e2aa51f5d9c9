// A .pt2 archive unpacked into a folder that does not outlive its use.
#pragma once

#include <filesystem>
#include <string>

namespace matlaw::graph
{
/// Unpacks into a fresh folder below the system's folder for temporary files; the destructor removes it.
///
/// torch's own loader would unpack too, but it keeps its folder as long as the model lives, so a process that is
/// killed leaves it behind. Code and constants are mapped once a model has been built, so this folder may go right
/// then. Should the process die in between, the next process that unpacks anything removes it: the folder's name holds
/// the process that owns it.
class UnpackedArchive
{
public:
  /// Throws FatalError when the archive is damaged or there is no room for it.
  explicit UnpackedArchive(const std::string & archive);
  ~UnpackedArchive();
  UnpackedArchive(const UnpackedArchive &) = delete;
  UnpackedArchive & operator=(const UnpackedArchive &) = delete;

  const std::filesystem::path & folder() const noexcept { return _folder; }

private:
  void remove();

  std::filesystem::path _folder;
  int _lock = -1;
};
}
