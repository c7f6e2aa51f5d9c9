// From what a user names to an artifact's folder.
#pragma once

#include <string>

namespace matlaw::artifact
{
/// Where an artifact is and which model was asked for (may be empty: whatever the artifact holds).
struct Location
{
  std::string folder;
  std::string name;
};

/// Resolves a stub, an artifact folder or a metadata.json. Throws FatalError when `path` is none of them.
Location locate(const std::string & path, const std::string & name);
}
