#include "artifact/locate.h"

#include <filesystem>
#include <set>
#include <vector>

#include "artifact/HitReader.h"
#include "artifact/Mismatch.h"
#include "artifact/file_bytes.h"
#include "matlaw/errors.h"
#include "support/text.h"

namespace matlaw::artifact
{
namespace fs = std::filesystem;

static Location from_stub(const std::string & path, const std::string & name)
{
  const auto parameters = read_hit(read_bytes(path));
  std::vector<std::string> models, compiled;
  std::set<std::string> seen;
  for (const auto & [key, value] : parameters)
  {
    if (!key.starts_with("Models/"))
      continue;
    const auto model = key.substr(7, key.rfind('/') - 7);
    if (key.rfind('/') == 6 || model.find('/') != std::string::npos || !seen.insert(model).second)
      continue;
    models.push_back(model);
    const auto type = parameters.find("Models/" + model + "/type");
    if (type != parameters.end() && type->second == "AOTIModel")
      compiled.push_back(model);
  }
  auto chosen = name;
  if (chosen.empty() && compiled.size() == 1)
    chosen = compiled.front();
  if (chosen.empty() && compiled.size() > 1)
    throw FatalError(path + " holds several compiled models (" + support::quoted_list(compiled) +
                     "): give the name of one.");
  // A file without any compiled model may take its models from files that it includes.
  if (!chosen.empty() && !seen.count(chosen) && !compiled.empty())
    throw FatalError(path + " has no model '" + chosen + "' in [Models]; it has " + support::quoted_list(models) + "." +
                     support::did_you_mean(chosen, models));
  const auto type = parameters.find("Models/" + chosen + "/type");
  if (chosen.empty() || type == parameters.end() || type->second != "AOTIModel")
    throw NotCompiled("The model" + (chosen.empty() ? "" : " '" + chosen + "'") + " in " + path +
                      " is not compiled. Compile it (matlaw-compile " + path + " --model " +
                      (chosen.empty() ? "<name>" : chosen) +
                      ") and load the stub that this writes, or evaluate the file as it is with the eager runtime "
                      "(<matlaw/eager/load_model.h>, libmatlaw_eager).");
  const auto target = parameters.find("Models/" + chosen + "/artifact_path");
  if (target == parameters.end())
    throw FatalError(path + ": [Models]/" + chosen +
                     " is an AOTIModel without 'artifact_path'. Regenerate the stub with "
                     "matlaw-compile.");
  fs::path folder = target->second;
  if (folder.is_relative())
    folder = fs::path(path).parent_path() / folder;
  if (!fs::is_directory(folder))
    throw FatalError(
        path + ": the artifact folder '" + folder.string() + "' (artifact_path of [Models]/" + chosen +
        ") does not exist. Keep the stub beside its artifact folder, or regenerate both with matlaw-compile.");
  return {folder.string(), chosen};
}

Location locate(const std::string & path, const std::string & name)
{
  if (!fs::exists(path))
    throw FatalError("'" + path +
                     "' does not exist; expected a stub (<name>_aoti.i), an artifact folder or its metadata.json.");
  Location location;
  if (fs::is_directory(path))
    location = {path, name};
  else if (fs::path(path).filename() == "metadata.json")
    location = {fs::path(path).parent_path().string(), name};
  else
    location = from_stub(path, name);
  if (location.folder.empty())
    location.folder = ".";
  if (!fs::exists(fs::path(location.folder) / "metadata.json"))
    throw FatalError("'" + location.folder +
                     "' holds no metadata.json, so it is not an artifact folder. Expected "
                     "<output-dir>/<name>/ as written by matlaw-compile.");
  return location;
}
}
