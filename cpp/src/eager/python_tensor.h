// Tensors across the language boundary: a torch.Tensor in Python is an at::Tensor in C++, without a copy.
#pragma once

#include <string>

#include <pybind11/pybind11.h>

#include "matlaw/Model.h"
#include "matlaw/eager/export.h"

namespace matlaw::eager
{
/// The Python object of a tensor. Needs the GIL.
MATLAW_EAGER_API pybind11::object to_python(const at::Tensor & tensor);

/// The tensor behind a Python object. Needs the GIL. Throws FatalError, naming `what`, for anything else.
MATLAW_EAGER_API at::Tensor to_tensor(pybind11::handle object, const std::string & what);

/// dict[str, torch.Tensor]
MATLAW_EAGER_API pybind11::dict to_python(const TensorMap & tensors);
MATLAW_EAGER_API TensorMap to_tensor_map(pybind11::handle object, const std::string & what);

/// dict[str, dict[str, torch.Tensor]]
MATLAW_EAGER_API pybind11::dict to_python(const BlockMap & blocks);
MATLAW_EAGER_API BlockMap to_block_map(pybind11::handle object, const std::string & what);
}
