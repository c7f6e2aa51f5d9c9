// How libmatlaw, which holds no Python, finds the runtime that evaluates laws from their source.
#pragma once

#include <memory>
#include <string>

#include "matlaw/load_model.h"

namespace matlaw
{
/// Loads the model `name` of an input file, or of the source that travels in the artifact folder `path`. Of the options
/// it takes device, dtype and extensions.
using EagerLoader = std::unique_ptr<Model> (*)(const std::string & path, const std::string & name,
                                               const LoadOptions & options);

/// Called by libmatlaw_eager when it is loaded into a process.
void register_eager_loader(EagerLoader loader);

/// The loader that was registered. When there is none but this process has Python, libmatlaw_eager.so is loaded from
/// libmatlaw's own folder first. Throws FatalError, saying what to link, when there is no way to evaluate eagerly.
EagerLoader eager_loader();
}
