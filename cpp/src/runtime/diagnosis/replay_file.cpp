#include "diagnosis/replay_file.h"

#include <atomic>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <unistd.h>

#include <ATen/core/Tensor.h>
#include <nlohmann/json.hpp>

#include "matlaw/logging.h"

namespace matlaw::diagnosis
{
namespace
{
using Json = nlohmann::ordered_json;

std::atomic<int> files_begun = 0;

/// JSON has no NaN and no infinity: they are texts.
Json number(double value)
{
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value > 0 ? "inf" : "-inf";
  return value;
}

Json numbers(const std::vector<double> & values)
{
  auto list = Json::array();
  for (const auto value : values)
    list.push_back(number(value));
  return list;
}

Json components(const at::Tensor & value)
{
  const auto flat = value.to(at::kDouble).cpu().contiguous().reshape({-1});
  const auto * data = flat.const_data_ptr<double>();
  return numbers({data, data + flat.numel()});
}

/// Per row, by the names of the input file.
Json inputs_of_row(const Failure & failure, std::size_t row, const ReplaySource & source)
{
  auto inputs = Json::object();
  for (const auto & [name, values] : failure.inputs)
  {
    const auto original = source.original_names.find(name);
    inputs[original == source.original_names.end() ? name : original->second] =
        components(values.select(0, std::int64_t(row)));
  }
  return inputs;
}

Json settings(const solve::KrylovConfig & config)
{
  return {{"method", solve::krylov_method_text(config.method)},
          {"restart", config.restart},
          {"max_its", config.max_its},
          {"abs_tol", config.abs_tol},
          {"rel_tol", config.rel_tol},
          {"cache_strategy", solve::preconditioner_cache_text(config.cache_strategy)},
          {"cache_max_its", config.cache_max_its}};
}

/// All settings of a solver, under the names that Python has for them.
Json settings(const solve::NewtonConfig & config)
{
  Json found = {{"atol", config.atol},
                {"rtol", config.rtol},
                {"miters", config.miters},
                {"ls_type", solve::line_search_text(config.ls_type)},
                {"ls_max_iters", config.ls_max_iters},
                {"ls_cutback", config.ls_cutback},
                {"ls_c", config.ls_c},
                {"max_substepping_level", config.max_substepping_level},
                {"substep_del_tol", config.substep_del_tol}};
  if (config.krylov)
    found["krylov"] = settings(*config.krylov);
  if (config.input_sensitivity)
    found["input_sensitivity"] = settings(*config.input_sensitivity);
  if (config.param_sensitivity)
    found["param_sensitivity"] = settings(*config.param_sensitivity);
  return found;
}

Json content(const Failure & failure, const ReplaySource & source)
{
  auto root = Json::object();
  root["matlaw_failure"] = 1;
  root["matlaw_version"] = MATLAW_VERSION;
  root["model"] = failure.model;
  root["message"] = failure.message();
  root["runtime"] = source.runtime;
  root["artifact"] = source.artifact;
  root["dtype"] = source.dtype;
  root["extensions"] = source.extensions;
  root["original_names"] = source.original_names;
  auto & solvers = root["solver_configs"] = Json::object();
  for (const auto & [update, config] : source.solvers)
    solvers[update] = settings(config);
  auto & parameters = root["parameters"] = Json::object();
  for (const auto & [name, value] : failure.parameters)
  {
    const auto original = source.original_names.find(name);
    parameters[original == source.original_names.end() ? name : original->second] = {{"shape", value.sizes().vec()},
                                                                                     {"value", components(value)}};
  }
  root["n_rows"] = failure.n_rows;
  root["n_failed"] = failure.failed_rows.size();
  auto & rows = root["rows"] = Json::array();
  for (std::size_t i = 0; i < failure.rows.size(); i++)
  {
    const auto & row = failure.rows[i];
    rows.push_back({{"row", row.row},
                    {"status", int(row.status)},
                    {"reason", name(row.reason)},
                    {"text", row.text},
                    {"iterations", row.iterations},
                    {"residuals", numbers(row.residuals)},
                    {"steps", numbers(row.steps)},
                    {"inputs", inputs_of_row(failure, i, source)}});
  }
  root["source"] = {{"file", source.file}, {"text", source.text}};
  return root;
}

/// A model's name as part of a file name.
std::string file_part(const std::string & name)
{
  std::string part = name.substr(0, 60);
  for (auto & c : part)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '-' && c != '.')
      c = '_';
  return part.empty() || part[0] == '.' ? "model" + part : part;
}

/// Writes all of it or throws, leaving nothing behind.
void write_in_one_step(const std::filesystem::path & path, const std::string & text)
{
  const auto temporary = path.parent_path() / ("." + path.filename().string() + ".part");
  const auto fail = [&](int error)
  {
    unlink(temporary.c_str());
    throw std::filesystem::filesystem_error("cannot write", path, std::error_code(error, std::generic_category()));
  };
  const int file = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0)
    throw std::filesystem::filesystem_error("cannot write", path, std::error_code(errno, std::generic_category()));
  for (std::size_t written = 0; written < text.size();)
  {
    const auto count = ::write(file, text.data() + written, text.size() - written);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
    {
      const int error = count < 0 ? errno : ENOSPC;
      close(file);
      fail(error);
    }
    written += std::size_t(count);
  }
  if (close(file) != 0 || std::rename(temporary.c_str(), path.c_str()) != 0)
    fail(errno);
}

void complain(const std::string & what) noexcept
{
  static std::atomic<bool> said = false;
  if (said.exchange(true))
    return;
  try
  {
    logging::write(logging::Channel::host, logging::Level::error,
                   "MATLAW_FAILURE_DIR: no replay file was written: " + what);
  }
  catch (...)
  {
  }
}
}

std::string replay_folder()
{
  const char * folder = std::getenv("MATLAW_FAILURE_DIR");
  return folder && files_begun.load() < max_replay_files ? folder : "";
}

std::string write_replay_file(const std::string & folder, const Failure & failure, const ReplaySource & source) noexcept
{
  try
  {
    const auto number = files_begun.fetch_add(1);
    if (number >= max_replay_files)
      return "";
    std::filesystem::create_directories(folder);
    const auto path = std::filesystem::absolute(folder) / (file_part(failure.model) + "-" + std::to_string(getpid()) +
                                                           "-" + std::to_string(number) + ".json");
    write_in_one_step(path, content(failure, source).dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
    if (logging::enabled(logging::Channel::host, logging::Level::info))
      logging::write(logging::Channel::host, logging::Level::info, "Wrote the replay file " + path.string() + ".");
    return path.string();
  }
  catch (const std::exception & e)
  {
    complain(e.what());
  }
  catch (...)
  {
    complain("an unknown error");
  }
  return "";
}
}
