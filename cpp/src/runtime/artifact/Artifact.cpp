#include "artifact/Artifact.h"

#include <algorithm>
#include <filesystem>

#include <gnu/libc-version.h>

#include <ATen/Context.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/headeronly/version.h>

#include "artifact/CpuTarget.h"
#include "artifact/Mismatch.h"
#include "artifact/file_bytes.h"
#include "matlaw/torch_release.h"
#include "support/sha256.h"
#include "support/text.h"

namespace matlaw::artifact
{
namespace fs = std::filesystem;

namespace
{
std::string major_minor(const std::string & version)
{
  const auto first = version.find('.');
  return first == std::string::npos ? version : version.substr(0, version.find('.', first + 1));
}

void check_torch(const Metadata & metadata, const std::string & folder)
{
  check_torch_release();
  if (major_minor(metadata.torch_version) != torch_release())
    throw Mismatch("The artifact '" + folder + "' was compiled with torch " + metadata.torch_version +
                   ", this runtime has torch " + TORCH_VERSION + ". Regenerate it via matlaw-compile with torch " +
                   torch_release() + ".");
}

std::string dtype_text(at::ScalarType dtype)
{
  if (dtype == at::kDouble)
    return "float64";
  if (dtype == at::kFloat)
    return "float32";
  throw FatalError(std::string("Laws are compiled for float64 or float32, not for ") + at::toString(dtype) + ".");
}

/// The device that is asked for, one of CUDA with its index.
at::Device choose_device(const at::Device & device)
{
  if (device.is_cpu())
    return device;
  if (!device.is_cuda())
    throw FatalError("Device '" + device.str() + "' is not supported: load with device = cpu or cuda.");
  if (!at::hasCUDA())
    throw FatalError("Device " + device.str() + " was asked for, but this torch has no CUDA: load with device = cpu.");
  const c10::impl::VirtualGuardImpl cuda(at::kCUDA);
  const auto count = cuda.deviceCount();
  if (count == 0)
    throw FatalError("Device " + device.str() + " was asked for, but there is no CUDA device: load with device = cpu.");
  if (device.index() >= count)
    throw FatalError("Device " + device.str() + " was asked for, but there are " + std::to_string(count) +
                     " CUDA devices: the last is cuda:" + std::to_string(count - 1) + ".");
  return device.has_index() ? device : cuda.getDevice();
}

/// The key of the build that is asked for.
std::string choose_build(const Metadata & metadata, const std::string & folder, const LoadOptions & options)
{
  const std::string device = options.device.is_cuda() ? "cuda" : "cpu";
  std::vector<std::string> available, of_device;
  for (const auto & [key, build] : metadata.builds)
  {
    available.push_back(key);
    if (key.starts_with(device + "/"))
      of_device.push_back(key);
  }
  auto wanted = device + "/float64";
  if (options.dtype)
    wanted = device + "/" + dtype_text(*options.dtype);
  else if (of_device.size() == 1)
    wanted = of_device.front();
  if (!metadata.builds.count(wanted))
  {
    const auto what = "The artifact '" + folder + "' has no build for " + wanted + "; it has " +
                      support::quoted_list(available) + ". Regenerate it via matlaw-compile --device " + device +
                      " --dtype " + wanted.substr(device.size() + 1) + ".";
    if (of_device.empty())
      throw Mismatch(what);
    throw FatalError(what);
  }
  if (wanted != device + "/float64" && wanted != device + "/float32")
    throw FatalError("The artifact '" + folder + "' has a build '" + wanted + "' of unknown dtype.");
  return wanted;
}

int compare_versions(const std::string & a, const std::string & b)
{
  const auto number = [](const std::string & text, std::size_t & at)
  {
    int value = 0;
    for (; at < text.size() && text[at] != '.'; at++)
      if (text[at] >= '0' && text[at] <= '9')
        value = 10 * value + (text[at] - '0');
    at++;
    return value;
  };
  for (std::size_t i = 0, j = 0; i < a.size() || j < b.size();)
    if (const auto x = number(a, i), y = number(b, j); x != y)
      return x < y ? -1 : 1;
  return 0;
}

void check_libc(const Build & build, const std::string & folder)
{
  const std::string here = gnu_get_libc_version();
  if (compare_versions(here, build.glibc_floor) < 0)
    throw Mismatch("The artifact '" + folder + "' needs glibc " + build.glibc_floor +
                   " or newer, this machine has glibc " + here +
                   ". Regenerate it via matlaw-compile on this machine or an older one.");
}

bool contains(const std::vector<std::string> & list, const std::string & item)
{
  return std::find(list.begin(), list.end(), item) != list.end();
}

/// Picks the file of every graph, by what the artifact has and this CPU runs.
std::map<std::string, GraphFile> choose_graphs(const Metadata & metadata, const Build & build,
                                               const std::string & folder, const std::string & key, Backend backend)
{
  const auto target = best_target(build.cpu_targets, build.cpu_features);
  const bool has_native = contains(build.backends, "native");
  const bool has_inductor = contains(build.backends, "inductor");
  const auto package_target = best_target(build.inductor_cpu_targets, build.cpu_features);
  const auto recompile = ". Regenerate it via matlaw-compile ";

  if (backend == Backend::NATIVE && !has_native)
    throw FatalError("The artifact '" + folder + "' has no native kernels for " + key + " (it has " +
                     support::quoted_list(build.backends) + ")" + recompile +
                     "--backend native, or load it with backend = auto.");
  if (backend == Backend::INDUCTOR && !has_inductor)
    throw FatalError("The artifact '" + folder + "' has no .pt2 graphs for " + key + " (it has " +
                     support::quoted_list(build.backends) + ")" + recompile +
                     "--backend inductor, or load it with backend = auto.");
  const auto refuse_cpu = [&](const std::string & targets)
  {
    throw Mismatch("The artifact '" + folder + "' was compiled for CPU " + targets + ", this CPU is " + this_cpu() +
                   recompile + "on this machine or with a lower CPU target.");
  };
  const bool may_native = backend != Backend::INDUCTOR && has_native && !target.empty();
  const bool may_package = backend != Backend::NATIVE && has_inductor && !package_target.empty();
  if (!may_native && !may_package)
    refuse_cpu(support::quoted_list(backend == Backend::INDUCTOR || !has_native ? build.inductor_cpu_targets
                                                                                : build.cpu_targets));

  std::map<std::string, GraphFile> graphs;
  const auto choose = [&](const std::string & stem, bool optional)
  {
    const auto native = key + "/" + stem + "." + target + ".so";
    const auto package =
        key + "/" + stem + (package_target == build.inductor_cpu_target ? "" : "." + package_target) + ".pt2";
    if (may_native && metadata.files.count(native))
      graphs[stem] = {(fs::path(folder) / native).string(), true};
    else if (may_package && metadata.files.count(package))
      graphs[stem] = {(fs::path(folder) / package).string(), false};
    else if (!optional)
      throw FatalError("The artifact '" + folder + "' has no usable file for its graph '" + stem + "' (" +
                       (may_native ? "'" + native + "'" : "") + (may_native && may_package ? " or " : "") +
                       (may_package ? "'" + package + "'" : "") + ")" + recompile +
                       "--backend both, or load it with backend = auto.");
  };
  for (const auto & segment : metadata.segments)
  {
    for (const auto & stem : segment.stems())
      choose(stem, false);
    for (const auto & stems : {segment.substep_stems(), segment.native_stems()})
      for (const auto & stem : stems)
        choose(stem, true);
  }
  return graphs;
}

const char * damaged = ". The artifact is incomplete or damaged: copy it again or regenerate it via matlaw-compile.";

/// The mapped file of the weights, checked.
void open_weights(Artifact & artifact)
{
  const auto & metadata = artifact.metadata;
  if (metadata.weights.empty())
    return;
  const auto dtype = artifact.dtype == at::kFloat ? "float32" : "float64";
  const auto name = metadata.weight_files.find(dtype);
  const auto record = name == metadata.weight_files.end() ? metadata.files.end() : metadata.files.find(name->second);
  if (record == metadata.files.end())
    throw FatalError("The artifact '" + artifact.folder + "' names no file of weights for " + dtype + damaged);
  artifact.weight_file = (fs::path(artifact.folder) / record->first).string();
  if (!fs::is_regular_file(artifact.weight_file))
    throw FatalError("The file '" + artifact.weight_file + "' is missing" + damaged);
  artifact.weights = weights::map_file(artifact.weight_file);
  const std::string_view bytes(reinterpret_cast<const char *>(artifact.weights.data), artifact.weights.size);
  if (std::int64_t(bytes.size()) != record->second.bytes)
    throw FatalError("The file '" + artifact.weight_file + "' has " + std::to_string(bytes.size()) +
                     " bytes instead of " + std::to_string(record->second.bytes) + damaged);
  if (support::sha256(bytes.data(), bytes.size()) != record->second.sha256)
    throw FatalError("The file '" + artifact.weight_file + "' is not the one that was compiled (its SHA-256 differs)" +
                     damaged);
}

void check_files(const Metadata & metadata, const std::string & folder, const std::string & key)
{
  if (!fs::is_directory(fs::path(folder) / key))
    throw Mismatch("The artifact '" + folder + "' was copied without its build for " + key +
                   ": copy that folder too, or regenerate the artifact via matlaw-compile.");
  const std::string remedy = damaged;
  for (const auto & [name, record] : metadata.files)
  {
    // Builds for other devices may be left behind when an artifact is copied.
    if (!name.starts_with(key + "/"))
      continue;
    const auto path = (fs::path(folder) / name).string();
    if (!fs::is_regular_file(path))
      throw FatalError("The file '" + path + "' is missing" + remedy);
    const auto size = std::int64_t(fs::file_size(path));
    if (size != record.bytes)
      throw FatalError("The file '" + path + "' has " + std::to_string(size) + " bytes instead of " +
                       std::to_string(record.bytes) + remedy);
    if (support::sha256(read_bytes(path)) != record.sha256)
      throw FatalError("The file '" + path + "' is not the one that was compiled (its SHA-256 differs)" + remedy);
  }
}
}

Artifact open_artifact(const std::string & folder, const std::string & name, const LoadOptions & options)
{
  Artifact artifact;
  artifact.folder = folder;
  artifact.metadata = read_metadata(folder);
  const auto & metadata = artifact.metadata;
  if (!name.empty() && name != metadata.name)
    throw FatalError("The artifact '" + folder + "' holds the model '" + metadata.name + "', not '" + name +
                     "'. Ask for that name, or compile the other model.");
  check_torch(metadata, folder);
  artifact.device = choose_device(options.device);
  const auto key = choose_build(metadata, folder, options);
  const auto & build = metadata.builds.at(key);
  artifact.dtype = key.ends_with("float32") ? at::kFloat : at::kDouble;
  artifact.graphs = choose_graphs(metadata, build, folder, key, options.backend);
  check_libc(build, folder);
  check_seal(folder);
  check_consistency(metadata, folder);
  check_files(metadata, folder, key);
  open_weights(artifact);
  return artifact;
}
}
