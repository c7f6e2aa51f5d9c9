#include "matlaw/torch_release.h"

#include <torch/csrc/inductor/aoti_torch/c/shim.h>
#include <torch/headeronly/version.h>

#include "matlaw/errors.h"

namespace matlaw
{
std::string torch_release()
{
  return std::to_string(TORCH_VERSION_MAJOR) + "." + std::to_string(TORCH_VERSION_MINOR);
}

void check_torch_release()
{
  const auto version = aoti_torch_abi_version();
  const auto loaded = std::to_string(version >> 56) + "." + std::to_string((version >> 48) & 0xff);
  if (loaded != torch_release())
    throw FatalError("libmatlaw was built for torch " + torch_release() + ", but this process has loaded torch " +
                     loaded + ". Install torch " + torch_release() +
                     ", or rebuild matlaw against the torch that is there.");
}
}
