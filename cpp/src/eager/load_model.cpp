#include "matlaw/eager/load_model.h"

#include <memory>

#include <c10/util/Exception.h>
#include <pybind11/stl.h>

#include "embedding.h"
#include "matlaw/eager_loader.h"

namespace matlaw::eager
{
Model load_model(const std::string & input, const std::string & model, const std::vector<std::string> & extensions)
{
  return Model(input, model, extensions);
}

namespace
{
std::string dtype_text(const std::optional<at::ScalarType> & dtype)
{
  if (!dtype)
    return "";
  if (*dtype == at::kDouble)
    return "float64";
  if (*dtype == at::kFloat)
    return "float32";
  throw FatalError(std::string("Laws are evaluated in float64 or float32, not in ") + c10::toString(*dtype) + ".");
}

/// What matlaw::load_model calls.
std::unique_ptr<matlaw::Model> load(const std::string & path, const std::string & name, const LoadOptions & options)
{
  const std::string dtype = dtype_text(options.dtype);
  return in_python(
      [&]() -> std::unique_ptr<matlaw::Model>
      {
        const pybind11::object law =
            embedding().attr("load")(path, name, options.extensions, options.device.str(), dtype);
        return std::make_unique<Model>(law.ptr());
      });
}

[[maybe_unused]] const bool registered = (register_eager_loader(&load), true);
}
}
