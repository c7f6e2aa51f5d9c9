// Artifacts of real laws, which tests/artifacts.py writes into the folder that MATLAW_TEST_ARTIFACTS names.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace matlaw::toy
{
/// What a test says that is skipped without them.
constexpr const char * no_artifacts =
    "set MATLAW_TEST_ARTIFACTS to the folder that tests/artifacts.py writes, with .pt2";

/// The stub of an artifact; empty when it is not there.
inline std::string shared_stub(const std::string & artifact)
{
  const char * folder = std::getenv("MATLAW_TEST_ARTIFACTS");
  const auto stub = std::filesystem::path(folder ? folder : "") / artifact / "model_aoti.i";
  return folder && std::filesystem::exists(stub) ? stub.string() : std::string();
}
}
