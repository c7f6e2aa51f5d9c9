#include "python_solver_config.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "linear_options.h"
#include "matlaw/errors.h"
#include "setting_names.h"

namespace py = pybind11;

namespace matlaw::eager
{
py::dict to_python(const solve::NewtonConfig & config)
{
  py::dict settings;
  settings["atol"] = config.atol;
  settings["rtol"] = config.rtol;
  settings["miters"] = config.miters;
  settings["ls_type"] = solve::line_search_text(config.ls_type);
  settings["ls_max_iters"] = config.ls_max_iters;
  settings["ls_cutback"] = config.ls_cutback;
  settings["ls_c"] = config.ls_c;
  settings["max_substepping_level"] = config.max_substepping_level;
  settings["substep_del_tol"] = config.substep_del_tol;
  const auto add = [&](const char * name, const std::optional<solve::KrylovConfig> & iterative)
  {
    if (iterative)
      settings[name] = to_dict(*iterative);
  };
  add("krylov", config.krylov);
  add("input_sensitivity", config.input_sensitivity);
  add("param_sensitivity", config.param_sensitivity);
  return settings;
}

solve::NewtonConfig with_changes(solve::NewtonConfig config, const py::dict & changes)
{
  const auto set = [](auto & to)
  { return [&to](py::handle value) { to = value.cast<std::remove_reference_t<decltype(to)>>(); }; };
  const auto iterative = [](const char * name, std::optional<solve::KrylovConfig> & to)
  { return [&to, name](py::handle value) { update(to ? *to : to.emplace(), value, name); }; };
  const std::map<std::string, std::function<void(py::handle)>> setters{
      {"atol", set(config.atol)},
      {"rtol", set(config.rtol)},
      {"miters", set(config.miters)},
      {"ls_type", [&](py::handle value) { config.ls_type = solve::line_search_from_text(value.cast<std::string>()); }},
      {"ls_max_iters", set(config.ls_max_iters)},
      {"ls_cutback", set(config.ls_cutback)},
      {"ls_c", set(config.ls_c)},
      {"max_substepping_level", set(config.max_substepping_level)},
      {"substep_del_tol", set(config.substep_del_tol)},
      {"krylov", iterative("krylov", config.krylov)},
      {"input_sensitivity", iterative("input_sensitivity", config.input_sensitivity)},
      {"param_sensitivity", iterative("param_sensitivity", config.param_sensitivity)},
  };
  for (const auto & [key, value] : changes)
  {
    const auto name = key.cast<std::string>();
    const auto setter = setters.find(name);
    if (setter == setters.end())
    {
      std::vector<std::string> known;
      for (const auto & [other, ignored] : setters)
        known.push_back(other);
      throw FatalError(unknown_setting("", name, known));
    }
    try
    {
      setter->second(value);
    }
    catch (const py::cast_error &)
    {
      throw FatalError("The solver setting " + name + " cannot be " + py::repr(value).cast<std::string>() + ".");
    }
  }
  return config;
}
}
