// Reasons to run a law's source instead of its compiled graphs. To a host both are FatalErrors.
#pragma once

#include "matlaw/errors.h"

namespace matlaw::artifact
{
/// A sound artifact that this machine or this torch cannot run.
class Mismatch final : public FatalError
{
public:
  using FatalError::FatalError;
};

/// An input file whose model is not compiled.
class NotCompiled final : public FatalError
{
public:
  NotCompiled(const std::string & message, bool in_stub) : FatalError(message), in_stub(in_stub) {}

  /// The file is what matlaw-compile wrote for another of its models: it is not run eagerly unless asked for.
  bool in_stub;
};
}
