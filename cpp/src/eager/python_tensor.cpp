#include "python_tensor.h"

#include <torch/csrc/autograd/python_variable.h>

namespace matlaw::eager
{
namespace
{
/// torch_python can wrap a tensor only once Python has imported torch.
void import_torch()
{
  static const bool imported = []
  {
    pybind11::module_::import("torch");
    return true;
  }();
  (void)imported;
}

std::string type_name(pybind11::handle object)
{
  return Py_TYPE(object.ptr())->tp_name;
}

pybind11::dict checked_dict(pybind11::handle object, const std::string & what)
{
  if (!PyDict_Check(object.ptr()))
    throw FatalError(what + ": expected a dict keyed by variable name, got an object of type " + type_name(object));
  return pybind11::reinterpret_borrow<pybind11::dict>(object);
}

std::string checked_key(pybind11::handle key, const std::string & what)
{
  if (!PyUnicode_Check(key.ptr()))
    throw FatalError(what + ": the keys of the dict are variable names (str), got a key of type " + type_name(key));
  return pybind11::cast<std::string>(key);
}
}

pybind11::object to_python(const at::Tensor & tensor)
{
  import_torch();
  PyObject * wrapped = THPVariable_Wrap(tensor);
  if (!wrapped)
    throw pybind11::error_already_set();
  return pybind11::reinterpret_steal<pybind11::object>(wrapped);
}

at::Tensor to_tensor(pybind11::handle object, const std::string & what)
{
  import_torch();
  if (!object || !THPVariable_Check(object.ptr()))
    throw FatalError(what + ": expected a torch.Tensor, got an object of type " +
                     (object ? type_name(object) : std::string("NULL")));
  return THPVariable_Unpack(object.ptr());
}

pybind11::dict to_python(const TensorMap & tensors)
{
  pybind11::dict result;
  for (const auto & [name, tensor] : tensors)
    result[pybind11::str(name)] = to_python(tensor);
  return result;
}

TensorMap to_tensor_map(pybind11::handle object, const std::string & what)
{
  TensorMap result;
  for (const auto & [key, value] : checked_dict(object, what))
  {
    const std::string name = checked_key(key, what);
    // The words for an error cost more than the tensor.
    const bool sound = THPVariable_Check(value.ptr());
    result.emplace(name, to_tensor(value, sound ? what : what + " '" + name + "'"));
  }
  return result;
}

pybind11::dict to_python(const BlockMap & blocks)
{
  pybind11::dict result;
  for (const auto & [name, row] : blocks)
    result[pybind11::str(name)] = to_python(row);
  return result;
}

BlockMap to_block_map(pybind11::handle object, const std::string & what)
{
  BlockMap result;
  for (const auto & [key, value] : checked_dict(object, what))
  {
    const std::string name = checked_key(key, what);
    result.emplace(name, to_tensor_map(value, what + " '" + name + "'"));
  }
  return result;
}
}
