// Loads a law straight from its input file, to be evaluated by Python in this process.
#pragma once

#include <string>
#include <vector>

#include "matlaw/eager/Model.h"

namespace matlaw::eager
{
/// The model called `model` of the HIT file `input`.
///
/// `extensions` are Python files, package folders or importable dotted names that register further model types. They
/// are imported before the model is built and stay registered for the life of the process. Throws FatalError when
/// anything is wrong with the file, the name, an extension or the Python environment.
MATLAW_EAGER_API Model load_model(const std::string & input, const std::string & model,
                                  const std::vector<std::string> & extensions = {});
}
