#include "Settings.h"

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "artifact/HitReader.h"
#include "artifact/file_bytes.h"
#include "matlaw/errors.h"
#include "support/text.h"

namespace matlaw::umat
{
namespace fs = std::filesystem;

Settings read_settings(const std::string & path)
{
  Settings settings;
  settings.path = path;
  const auto place = [&](const std::string & key) { return path + ": [Umat] " + key; };
  const auto choice =
      [&](const std::string & key, const std::string & value, const std::string & first, const std::string & second)
  {
    if (value != first && value != second)
      throw FatalError(place(key) + " = '" + value + "'; expected '" + first + "' or '" + second + "'.");
    return value == first;
  };
  const auto entry = [&](const std::string & key, const std::string & value)
  {
    const auto source = source_from_text(value, place(key));
    if (source.quantity != Quantity::STATEV && source.quantity != Quantity::UNUSED)
      throw FatalError(place(key) + " = '" + value + "'; expected 'statev' and the number of an entry, or 'unused'.");
    return source.entry;
  };
  const auto megabytes = [&](const std::string & key, const std::string & value)
  {
    char * end = nullptr;
    const auto number = std::strtol(value.c_str(), &end, 10);
    if (value.empty() || *end || number < 0 || number > 1'000'000)
      throw FatalError(place(key) + " = '" + value + "'; expected a number of megabytes, 0 for no memory.");
    return std::size_t(number) << 20;
  };
  const std::vector<std::string> known{"law",      "model",       "library",  "libpython",           "python_bin",
                                       "ddsdde",   "on_failure",  "started",  "out_of_plane_strain", "inputs/",
                                       "outputs/", "parameters/", "initial/", "point_memory"};
  for (const auto & [key, value] : artifact::read_hit(artifact::read_bytes(path)))
  {
    if (!key.starts_with("Umat/"))
      throw FatalError(path + ": '" + key + "' does not belong here; the settings of a plugin are in [Umat].");
    const auto name = key.substr(5);
    const auto variable = name.substr(name.find('/') + 1);
    if (name == "law")
      settings.law = value;
    else if (name == "model")
      settings.model = value;
    else if (name == "library")
      continue; // read by the plugin
    else if (name == "libpython")
      settings.libpython = value;
    else if (name == "python_bin")
      settings.python_bin = value;
    else if (name == "ddsdde")
      settings.order = choice(name, value, "rows", "columns") ? Order::ROWS : Order::COLUMNS;
    else if (name == "on_failure")
      settings.on_failure = choice(name, value, "throw", "pnewdt") ? OnFailure::THROW : OnFailure::PNEWDT;
    else if (name == "point_memory")
      settings.point_memory = megabytes(name, value);
    else if (name == "started")
      settings.started = entry(name, value);
    else if (name == "out_of_plane_strain")
      settings.out_of_plane = entry(name, value);
    else if (name.starts_with("inputs/"))
      settings.inputs[variable] = source_from_text(value, place(name));
    else if (name.starts_with("outputs/"))
      settings.outputs[variable] = source_from_text(value, place(name));
    else if (name.starts_with("initial/"))
      settings.initial[variable] = source_from_text("value " + value, place(name)).constant;
    else if (name.starts_with("parameters/"))
      settings.parameters[variable] = source_from_text(value, place(name));
    else
      throw FatalError(place(name) + ": there is no such setting." + support::did_you_mean(name, known));
  }
  if (settings.law.empty())
    throw FatalError(place("law") + " is missing: the path of the law, relative to this file.");
  if (fs::path(settings.law).is_relative())
    settings.law = (fs::path(path).parent_path() / settings.law).string();
  return settings;
}
}
