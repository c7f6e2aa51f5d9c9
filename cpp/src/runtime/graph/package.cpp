// Graphs as .pt2 packages, run by torch's AOTInductor runtime.
#include "graph/Graph.h"

#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/DeviceGuard.h>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>

#include "artifact/file_bytes.h"
#include "graph/UnpackedArchive.h"
#include "matlaw/errors.h"
#include "support/rows.h"
#include "support/sha256.h"
#include "support/text.h"

namespace matlaw::graph
{
namespace
{
std::string first_line(const std::string & text)
{
  return text.substr(0, text.find('\n'));
}

using Loader = torch::inductor::AOTIModelPackageLoader;

/// The loader of a package, one for each content in this process. It is kept for good: a library that torch generates
/// has unique symbols (STB_GNU_UNIQUE), with which no C library unloads it, so that every load of the same law would
/// take memory that never comes back.
std::shared_ptr<Loader> loader_of(const std::string & path, std::int64_t runners, const at::Device & device)
{
  using Key = std::tuple<std::string, std::int64_t, std::int64_t>;
  static auto & loaded = *new std::map<Key, std::shared_ptr<Loader>>;
  // Threads that build loaders at the same time crash inside torch.
  static std::mutex building;
  const auto digest = support::sha256(artifact::read_bytes(path));
  const std::lock_guard lock(building);
  auto & loader = loaded[{digest, runners, device.index()}];
  if (loader)
    return loader;
  const UnpackedArchive archive(path);
  try
  {
    // Not `run_single_threaded`: that mode shares one set of intermediate state between callers. Torch hands each
    // caller one of `num_runners` instances instead; the generated code itself starts no threads.
    loader = std::make_shared<Loader>(archive.folder().string(), "model", /*run_single_threaded=*/false,
                                      /*num_runners=*/std::size_t(runners), device.index());
  }
  catch (const std::exception & error)
  {
    throw FatalError("torch cannot load '" + path + "': " + first_line(error.what()) +
                     ". Regenerate the artifact via matlaw-compile.");
  }
  return loader;
}

class PackageGraph final : public Graph
{
public:
  PackageGraph(std::string path, Signature signature, std::int64_t runners, const at::Device & device)
      : _path(std::move(path)),
        _signature(std::move(signature)),
        _device(device),
        _loader(loader_of(_path, runners, device))
  {
  }

  void run(const void * const * inputs, void * const * outputs, std::int64_t ld, std::int64_t wanted) const override
  {
    // Whole blocks: a batch of 1 is a special case in some of what Inductor generates.
    const auto rows = support::whole_blocks(wanted);
    const at::NoGradGuard no_grad;
    const c10::OptionalDeviceGuard on_device(_device.is_cpu() ? std::nullopt : std::optional(_device));
    const auto element = c10::elementSize(_signature.dtype);
    const auto options = at::TensorOptions().dtype(_signature.dtype);
    std::vector<at::Tensor> arguments;
    arguments.reserve(_signature.inputs.size());
    for (std::size_t k = 0; k < _signature.inputs.size(); k++)
    {
      auto shape = _signature.inputs[k];
      if (_signature.is_weight(k))
      {
        shape.push_back(1);
        arguments.push_back(at::from_blob(const_cast<void *>(inputs[k]), shape, options.device(_device)));
        continue;
      }
      shape.push_back(ld);
      auto whole = at::from_blob(const_cast<void *>(inputs[k]), shape, options);
      // The package was compiled for contiguous tensors and does not check.
      arguments.push_back((ld == rows ? whole : whole.narrow(-1, 0, rows).contiguous()).to(_device));
    }
    std::vector<at::Tensor> results;
    try
    {
      results = _loader->boxed_run(std::move(arguments));
    }
    catch (const std::exception & error)
    {
      throw FatalError("The graph '" + _path + "' failed: " + first_line(error.what()));
    }
    if (results.size() != _signature.outputs.size())
      refuse("returns " + std::to_string(results.size()) + " tensors instead of " +
             std::to_string(_signature.outputs.size()));
    for (std::size_t k = 0; k < results.size(); k++)
      copy(results[k], _signature.outputs[k], static_cast<char *>(outputs[k]), ld, rows, std::int64_t(element));
  }

private:
  [[noreturn]] void refuse(const std::string & what) const
  {
    throw FatalError("The graph '" + _path + "' " + what + ". Regenerate the artifact via matlaw-compile.");
  }

  /// Writes one result, (*shape, rows) or (*shape) when it does not depend on the batch, into its slot.
  void copy(const at::Tensor & result, const Shape & shape, char * slot, std::int64_t ld, std::int64_t rows,
            std::int64_t element) const
  {
    auto whole = shape;
    whole.push_back(rows);
    const bool constant = result.sizes() == at::IntArrayRef(shape) ||
                          (result.dim() == std::int64_t(whole.size()) && result.size(-1) == 1 &&
                           result.sizes().slice(0, shape.size()) == at::IntArrayRef(shape));
    if (result.scalar_type() != _signature.dtype || (!constant && result.sizes() != at::IntArrayRef(whole)))
      refuse("returns a tensor of shape " + support::shape_text(result.sizes().vec()) + " and dtype " +
             at::toString(result.scalar_type()) + " instead of " + support::shape_text(whole) + " and " +
             at::toString(_signature.dtype));
    auto full = result;
    if (constant)
      full = (result.sizes() == at::IntArrayRef(shape) ? result.unsqueeze(-1) : result).expand(whole);
    full = full.to(at::kCPU).contiguous();
    const auto components = rows ? full.numel() / rows : 0;
    const auto * from = static_cast<const char *>(full.const_data_ptr());
    if (ld == rows)
      std::memcpy(slot, from, std::size_t(full.numel() * element));
    else
      for (std::int64_t c = 0; c < components; c++)
        std::memcpy(slot + c * ld * element, from + c * rows * element, std::size_t(rows * element));
  }

  std::string _path;
  Signature _signature;
  at::Device _device;
  std::shared_ptr<Loader> _loader;
};
}

std::unique_ptr<Graph> load_package(const std::string & path, Signature signature, std::int64_t runners,
                                    const at::Device & device)
{
  return std::make_unique<PackageGraph>(path, std::move(signature), runners, device);
}
}
