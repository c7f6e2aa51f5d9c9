#include "matlaw/load_model.h"

#include <mutex>
#include <optional>
#include <set>

#include "artifact/Metadata.h"
#include "artifact/Mismatch.h"
#include "artifact/locate.h"
#include "matlaw/aoti/load_model.h"
#include "matlaw/eager_loader.h"
#include "matlaw/logging.h"

namespace matlaw
{
Backend backend_from_text(const std::string & text)
{
  if (text == "auto")
    return Backend::AUTO;
  if (text == "native")
    return Backend::NATIVE;
  if (text == "inductor")
    return Backend::INDUCTOR;
  throw FatalError("There is no backend '" + text +
                   "' (option or environment variable MATLAW_BACKEND); "
                   "choose 'auto', 'native' or 'inductor'.");
}

Runtime runtime_from_text(const std::string & text)
{
  if (text == "auto")
    return Runtime::AUTO;
  if (text == "aoti")
    return Runtime::AOTI;
  if (text == "eager")
    return Runtime::EAGER;
  throw FatalError("There is no runtime '" + text + "'; choose 'auto', 'aoti' or 'eager'.");
}

Fallback fallback_from_text(const std::string & text)
{
  if (text == "eager")
    return Fallback::EAGER;
  if (text == "none")
    return Fallback::NONE;
  throw FatalError("There is no fallback '" + text + "'; choose 'eager' or 'none'.");
}

namespace
{
/// Where the artifact is; nothing for an input file whose model is not compiled.
std::optional<artifact::Location> find_artifact(const std::string & path, const std::string & name, Runtime runtime)
{
  try
  {
    return artifact::locate(path, name);
  }
  catch (const artifact::NotCompiled & e)
  {
    if (runtime == Runtime::AOTI || (runtime == Runtime::AUTO && e.in_stub))
      throw;
    return std::nullopt;
  }
}

std::unique_ptr<Model> load_input_file(const std::string & path, const std::string & name, const LoadOptions & options)
{
  EagerLoader loader = nullptr;
  try
  {
    loader = eager_loader();
  }
  catch (const FatalError & e)
  {
    throw FatalError("The model '" + name + "' in " + path + " is not compiled. " + e.what() +
                     " Or compile it (matlaw-compile " + path + " --model " + (name.empty() ? "<name>" : name) +
                     ") and load the stub that this writes.");
  }
  return loader(path, name, options);
}

std::unique_ptr<Model> load_source(const artifact::Location & location, const LoadOptions & options)
{
  // Source that was edited is not run.
  artifact::read_metadata(location.folder);
  artifact::check_seal(location.folder);
  return eager_loader()(location.folder, location.name, options);
}

/// Once per artifact and reason.
void announce(const std::string & reason)
{
  static std::mutex mutex;
  static std::set<std::string> said;
  const std::scoped_lock lock(mutex);
  if (said.insert(reason).second)
    logging::write(logging::Channel::load, logging::Level::warn,
                   reason + " Until then the source in the artifact is evaluated by Python, which is slow.");
}

std::unique_ptr<Model> fall_back(const artifact::Location & location, const LoadOptions & options,
                                 const std::string & reason)
{
  std::unique_ptr<Model> law;
  try
  {
    law = load_source(location, options);
  }
  catch (const FatalError & e)
  {
    throw FatalError(reason + " Nor can the source in the artifact be evaluated instead: " + e.what());
  }
  announce(reason);
  return law;
}
}

std::unique_ptr<Model> load_model(const std::string & path, const std::string & name, const LoadOptions & options)
{
  const auto location = find_artifact(path, name, options.runtime);
  if (!location)
    return load_input_file(path, name, options);
  if (options.runtime == Runtime::EAGER)
    return load_source(*location, options);
  try
  {
    return std::make_unique<aoti::Model>(location->folder, location->name, options);
  }
  catch (const artifact::Mismatch & mismatch)
  {
    if (options.runtime == Runtime::AOTI || options.fallback == Fallback::NONE)
      throw;
    return fall_back(*location, options, mismatch.what());
  }
}

namespace aoti
{
std::unique_ptr<Model> load_model(const std::string & path, const std::string & name, const LoadOptions & options)
{
  const auto location = artifact::locate(path, name);
  return std::make_unique<Model>(location.folder, location.name, options);
}
}
}
