#include "linear_options.h"

#include <set>
#include <string>

#include <pybind11/stl.h>

#include "matlaw/errors.h"
#include "setting_names.h"

namespace py = pybind11;

namespace matlaw::eager
{
solve::LinearStructure linear_structure(const EliminationPairs & elimination, const DiagonalPairs & preconditioner,
                                        std::int64_t n)
{
  solve::LinearStructure structure;
  std::set<std::int64_t> rows, columns, diagonal;
  const auto need = [&](bool holds, const char * what)
  {
    if (!holds)
      throw FatalError(std::string("The ") + what + " blocks overlap, are not square or do not fit a matrix of size " +
                       std::to_string(n) + ".");
  };
  for (const auto & [block_rows, block_columns] : elimination)
  {
    need(block_rows.size() == block_columns.size() && !block_rows.empty(), "elimination");
    for (const auto k : block_rows)
      need(k >= 0 && k < n && rows.insert(k).second, "elimination");
    for (const auto k : block_columns)
      need(k >= 0 && k < n && columns.insert(k).second, "elimination");
    structure.elimination.push_back({block_rows, block_columns});
  }
  for (const auto & [offset, size] : preconditioner)
  {
    need(offset >= 0 && size >= 0 && offset <= n && size <= n - offset, "preconditioner");
    for (std::int64_t k = 0; k < size; k++)
      need(diagonal.insert(offset + k).second, "preconditioner");
    structure.preconditioner.push_back({offset, size});
  }
  return structure;
}

void update(solve::KrylovConfig & config, const py::handle & settings, const std::string & subject)
{
  if (!PyDict_Check(settings.ptr()))
    throw FatalError("The solver setting " + subject + " must be a dict, got " +
                     py::repr(settings).cast<std::string>() + ".");
  for (const auto & [key, value] : py::reinterpret_borrow<py::dict>(settings))
  {
    const auto name = py::str(key).cast<std::string>();
    try
    {
      if (name == "method")
        config.method = solve::krylov_method_from_text(value.cast<std::string>());
      else if (name == "restart")
        config.restart = value.cast<std::int64_t>();
      else if (name == "max_its")
        config.max_its = value.cast<std::int64_t>();
      else if (name == "abs_tol")
        config.abs_tol = value.cast<double>();
      else if (name == "rel_tol")
        config.rel_tol = value.cast<double>();
      else if (name == "cache_strategy")
        config.cache_strategy = solve::preconditioner_cache_from_text(value.cast<std::string>());
      else if (name == "cache_max_its")
        config.cache_max_its = value.cast<std::int64_t>();
      else
        throw FatalError(
            unknown_setting(subject + ".", name,
                            {"method", "restart", "max_its", "abs_tol", "rel_tol", "cache_strategy", "cache_max_its"}));
    }
    catch (const py::cast_error &)
    {
      throw FatalError("The solver setting " + subject + "." + name + " cannot be " +
                       py::repr(value).cast<std::string>() + ".");
    }
  }
  solve::check(config);
}

py::dict to_dict(const solve::KrylovConfig & config)
{
  py::dict settings;
  settings["method"] = solve::krylov_method_text(config.method);
  settings["restart"] = config.restart;
  settings["max_its"] = config.max_its;
  settings["abs_tol"] = config.abs_tol;
  settings["rel_tol"] = config.rel_tol;
  settings["cache_strategy"] = solve::preconditioner_cache_text(config.cache_strategy);
  settings["cache_max_its"] = config.cache_max_its;
  return settings;
}
}
