// Weights outside the compiled code: the watcher of a folder, and the checks for laws that Python evaluates.
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <pybind11/functional.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "../eager/python_tensor.h"
#include "matlaw/WeightStream.h"
#include "modules.h"
#include "weights/weight_checks.h"

namespace py = pybind11;

namespace matlaw::bindings
{
namespace
{
py::dict checked_weights(const std::string & model,
                         const std::vector<std::pair<std::string, std::vector<std::int64_t>>> & shapes,
                         const std::string & dtype, const std::string & device, const py::object & tensors,
                         bool user_managed)
{
  std::vector<WeightInfo> infos;
  for (const auto & [name, shape] : shapes)
    infos.push_back({name, shape});
  const auto set = weights::checked_set(model, infos, dtype == "float32" ? at::kFloat : at::kDouble, at::Device(device),
                                        eager::to_tensor_map(tensors, "weight"), {.user_managed = user_managed});
  return eager::to_python(set->tensors);
}

std::unique_ptr<WeightStream> make_stream(WeightStream::Update update, const std::string & path, double interval,
                                          std::function<void(const std::string &)> on_error)
{
  WeightStream::Options options;
  options.interval = std::chrono::milliseconds(std::int64_t(1000.0 * interval));
  options.on_error = std::move(on_error);
  return std::make_unique<WeightStream>(std::move(update), path, std::move(options));
}
}

void bind_weights(py::module_ & module)
{
  module.def("checked_weights", &checked_weights, "The weights by name, once they fit.");
  py::class_<WeightStream::Status>(module, "WeightStreamStatus")
      .def_readonly("updates", &WeightStream::Status::updates)
      .def_readonly("version", &WeightStream::Status::version)
      .def_readonly("file", &WeightStream::Status::file)
      .def_readonly("errors", &WeightStream::Status::errors)
      .def_readonly("error", &WeightStream::Status::error);
  // Its thread calls Python, so that nobody may wait for it with the interpreter lock held.
  struct Ended
  {
    void operator()(WeightStream * stream) const
    {
      const py::gil_scoped_release release;
      delete stream;
    }
  };
  py::class_<WeightStream, std::unique_ptr<WeightStream, Ended>>(module, "WeightStream")
      .def(py::init(
          [](WeightStream::Update update, const std::string & path, double interval,
             std::function<void(const std::string &)> on_error)
          {
            return std::unique_ptr<WeightStream, Ended>(
                make_stream(std::move(update), path, interval, std::move(on_error)).release());
          }))
      .def("poll", &WeightStream::poll, py::call_guard<py::gil_scoped_release>())
      .def_property_readonly("status", &WeightStream::status);
}
}
