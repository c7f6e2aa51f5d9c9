// Reads safetensors files: eight bytes with the length of a header, the header (JSON), the numbers.
#pragma once

#include <map>
#include <string>

#include <ATen/core/Tensor.h>

#include "weights/FileView.h"

namespace matlaw::weights
{
/// The tensors in a file by name. They lie in the view's memory, which they keep alive, but for one whose place there
/// does not fit its type. Throws FatalError, which names `path` and the tensor, when the file is truncated or damaged.
std::map<std::string, at::Tensor> read_safetensors(const FileView & view, const std::string & path);

/// Why a file is not complete; empty for one that is. Throws FatalError when it cannot be read.
std::string incomplete(const std::string & path);
}
