#include "matlaw/errors.h"
#include "matlaw/torch_release.h"
#include "modules.h"

PYBIND11_MODULE(_core, module)
{
  module.doc() = "The C++ side of matlaw: the Newton solver, compiled laws and QuadratureBatch.";
  // Tensors cross the boundary only once torch has registered its types.
  pybind11::module_::import("torch");
  try
  {
    matlaw::check_torch_release();
  }
  catch (const matlaw::FatalError & error)
  {
    throw pybind11::import_error(error.what());
  }
  matlaw::bindings::bind_errors(module);
  matlaw::bindings::bind_failure(module);
  matlaw::bindings::bind_logging(module);
  matlaw::bindings::bind_newton(module);
  matlaw::bindings::bind_dispatch(module);
  matlaw::bindings::bind_model(module);
  matlaw::bindings::bind_quadrature_batch(module);
  matlaw::bindings::bind_batch_group(module);
  matlaw::bindings::bind_substepping(module);
  matlaw::bindings::bind_weights(module);
}
