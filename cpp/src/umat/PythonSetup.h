// Gives a host that is no Python the Python that a law was written for.
#pragma once

#include <optional>
#include <string>

namespace matlaw::umat
{
/// While this lives, a law may be loaded that needs Python: libpython is in the process, and an interpreter that is
/// started takes the environment of `python_bin`. The host's own environment variables are put back at the end.
class PythonSetup
{
public:
  /// Empty texts, or a process that has a running Python: nothing is done. Throws FatalError when `libpython` cannot
  /// be loaded.
  PythonSetup(const std::string & libpython, const std::string & python_bin);
  ~PythonSetup();
  PythonSetup(const PythonSetup &) = delete;
  PythonSetup & operator=(const PythonSetup &) = delete;

private:
  bool _changed = false;
  std::optional<std::string> _path, _home;
};
}
