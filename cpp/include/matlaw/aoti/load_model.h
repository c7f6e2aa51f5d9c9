// Loads a compiled law as what it is.
#pragma once

#include <memory>
#include <string>

#include "matlaw/aoti/Model.h"
#include "matlaw/load_model.h"

namespace matlaw::aoti
{
using matlaw::Backend;
using matlaw::LoadOptions;

/// As matlaw::load_model, for hosts that want aoti::Model's own operations.
std::unique_ptr<Model> load_model(const std::string & path, const std::string & name = "",
                                  const LoadOptions & options = {});
}
