#include "matlaw/load_model.h"

#include "artifact/locate.h"
#include "matlaw/aoti/load_model.h"

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

std::unique_ptr<Model> load_model(const std::string & path, const std::string & name, const LoadOptions & options)
{
  return aoti::load_model(path, name, options);
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
