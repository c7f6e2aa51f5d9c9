// Laws for Python: loading, evaluation with the interpreter lock released, metadata.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "../eager/python_solver_config.h"
#include "../eager/python_tensor.h"
#include "matlaw/Failure.h"
#include "matlaw/Model.h"
#include "matlaw/aoti/Model.h"
#include "matlaw/dispatch/DispatchedModel.h"
#include "matlaw/eager/Model.h"
#include "matlaw/load_model.h"
#include "modules.h"

namespace py = pybind11;

namespace matlaw::bindings
{
namespace
{
using eager::to_python;

TensorMap inputs_of(const py::object & inputs)
{
  return eager::to_tensor_map(inputs, "input");
}

/// Runs `action` without the interpreter lock.
template <typename Action>
auto unlocked(Action && action)
{
  const py::gil_scoped_release release;
  return action();
}

/// ([(unknowns, residual, step)], reason, place)
py::object recorded(const Evaluation & result)
{
  py::list segments;
  for (const auto & history : result.history)
    segments.append(py::make_tuple(history.unknowns, to_python(history.residual), to_python(history.step)));
  return py::make_tuple(segments, to_python(result.reason), to_python(result.place));
}

py::tuple evaluate(const Model & model, const py::object & inputs, bool jacobian,
                   const std::vector<std::pair<std::string, std::string>> & pairs, bool history)
{
  const TensorMap values = inputs_of(inputs);
  EvaluateOptions options;
  options.jacobian = jacobian;
  options.history = history;
  for (const auto & [output, given] : pairs)
    options.pairs.push_back({output, given});
  const Evaluation result = unlocked([&] { return model.evaluate(values, options); });
  return py::make_tuple(to_python(result.outputs), to_python(result.jacobian), to_python(result.status),
                        to_python(result.iterations), to_python(result.substeps), to_python(result.dt_factor),
                        py::cast(result.failed_rows), result.reason.defined() ? recorded(result) : py::none(),
                        result.weights_version);
}

py::dict forward(const Model & model, const py::object & inputs)
{
  const TensorMap values = inputs_of(inputs);
  return to_python(unlocked([&] { return model.forward(values); }));
}

py::tuple jvp(const Model & model, const py::object & inputs, const py::object & tangents)
{
  const TensorMap values = inputs_of(inputs);
  const TensorMap directions = eager::to_tensor_map(tangents, "tangent");
  const auto result = unlocked([&] { return model.jvp(values, directions); });
  return py::make_tuple(to_python(result.first), to_python(result.second));
}

py::tuple jacobian(const Model & model, const py::object & inputs)
{
  const TensorMap values = inputs_of(inputs);
  const auto result = unlocked([&] { return model.jacobian(values); });
  return py::make_tuple(to_python(result.first), to_python(result.second));
}

py::dict param_jacobian(const Model & model, const py::object & inputs)
{
  const TensorMap values = inputs_of(inputs);
  return to_python(unlocked([&] { return model.param_jacobian(values); }));
}

py::dict param_vjp(const Model & model, const py::object & inputs, const py::object & cotangents)
{
  const TensorMap values = inputs_of(inputs);
  const TensorMap seeds = eager::to_tensor_map(cotangents, "cotangent");
  return to_python(unlocked([&] { return model.param_vjp(values, seeds); }));
}

at::ScalarType dtype_of(const std::string & name)
{
  if (name == "float64")
    return at::kDouble;
  if (name == "float32")
    return at::kFloat;
  throw FatalError("load_model: dtype must be float64 or float32, got '" + name + "'");
}

at::Device device_of(const std::string & name)
{
  try
  {
    return at::Device(name);
  }
  catch (const c10::Error &)
  {
    throw FatalError("load_model: there is no device '" + name + "'; expected cpu, cuda or cuda:<number>");
  }
}

/// A Model, or for a law that is evaluated eagerly its Python object.
py::object load(const std::string & path, const std::string & name, const std::string & device,
                const std::optional<std::string> & dtype, const std::string & backend, std::int64_t threads,
                std::int64_t max_chunk_rows, std::int64_t max_bytes, const std::string & runtime,
                const std::string & fallback, const std::vector<std::string> & extensions,
                const std::shared_ptr<dispatch::Scheduler> & scheduler)
{
  LoadOptions options;
  options.device = device_of(device);
  if (dtype)
    options.dtype = dtype_of(*dtype);
  options.backend = backend_from_text(backend);
  options.threads = threads;
  options.max_chunk_rows = max_chunk_rows;
  options.max_bytes = max_bytes;
  options.runtime = runtime_from_text(runtime);
  options.fallback = fallback_from_text(fallback);
  options.extensions = extensions;
  if (scheduler)
    return py::cast(
        unlocked([&] { return std::shared_ptr<Model>(dispatch::load_model(path, name, scheduler, options)); }));
  const auto law = unlocked([&] { return std::shared_ptr<Model>(load_model(path, name, options)); });
  if (const auto * eagerly = dynamic_cast<const eager::Model *>(law.get()))
    return py::reinterpret_borrow<py::object>(eagerly->python());
  return py::cast(law);
}

py::dict solver_configs(const Model & model)
{
  py::dict found;
  for (const auto & update : model.implicit_updates())
    found[py::str(update)] = eager::to_python(model.solver_config(update));
  return found;
}

/// Settings that are not named stay as they are.
void set_solver_config(Model & model, const std::optional<std::string> & update, const py::kwargs & settings)
{
  auto updates = model.implicit_updates();
  if (update || updates.empty())
    updates = {update.value_or("")};        // where there are none, solver_config() says so
  std::vector<solve::NewtonConfig> changed; // all of them before any is set
  for (const auto & name : updates)
    changed.push_back(eager::with_changes(model.solver_config(name), settings));
  for (const auto & config : changed)
    solve::check(config);
  for (std::size_t i = 0; i < updates.size(); i++)
    model.set_solver_config(changed[i], updates[i]);
}

std::int64_t memory_per_call(const Model & model)
{
  if (const auto * law = dynamic_cast<const aoti::Model *>(&model))
    return law->memory_per_call();
  if (const auto * law = dynamic_cast<const dispatch::DispatchedModel *>(&model))
  {
    std::int64_t total = 0;
    for (std::size_t i = 0; i < law->scheduler().devices().size(); i++)
      total += memory_per_call(law->copy(i));
    return total;
  }
  throw FatalError("Model '" + model.name() + "' is evaluated eagerly: the memory of a call depends on its rows.");
}

std::string backend(const Model & model)
{
  if (const auto * law = dynamic_cast<const dispatch::DispatchedModel *>(&model))
    return backend(law->copy(0));
  const auto * compiled = dynamic_cast<const aoti::Model *>(&model);
  return compiled ? compiled->backend() : "eager";
}

py::list derivative_pairs(const Model & model)
{
  py::list result;
  for (const DerivativePair & pair : model.derivative_pairs())
    result.append(py::make_tuple(pair.output, pair.input));
  return result;
}

py::list state_pairs(const Model & model)
{
  py::list result;
  for (const StatePair & pair : model.state_pairs())
    result.append(py::make_tuple(pair.current, pair.old, pair.is_state ? "state" : "force", py::cast(pair.initial)));
  return result;
}
}

void bind_model(py::module_ & module)
{
  py::class_<Model, std::shared_ptr<Model>>(module, "Model",
                                            "A loaded law; tensors are torch.Tensor in the public layout.")
      .def_property_readonly("name", &Model::name)
      .def_property_readonly("backend", &backend, "native, inductor, native+inductor or eager")
      .def_property_readonly("input_names", &Model::input_names)
      .def_property_readonly("output_names", &Model::output_names)
      .def_property_readonly("input_base_shapes", &Model::input_base_shapes)
      .def_property_readonly("output_base_shapes", &Model::output_base_shapes)
      .def_property_readonly("input_sub_batch_shapes", &Model::input_sub_batch_shapes)
      .def_property_readonly("output_sub_batch_shapes", &Model::output_sub_batch_shapes)
      .def_property_readonly("input_types", &Model::input_types)
      .def_property_readonly("output_types", &Model::output_types)
      .def_property_readonly("device", [](const Model & model) { return model.device().str(); })
      .def_property_readonly("dtype",
                             [](const Model & model) { return model.dtype() == at::kFloat ? "float32" : "float64"; })
      .def_property_readonly("derivative_pairs", &derivative_pairs, "list of (output, input)")
      .def_property_readonly("state_pairs", &state_pairs, "list of (current, old, role, initial)")
      .def("evaluate", &evaluate, py::arg("inputs"), py::arg("jacobian") = false,
           py::arg("pairs") = std::vector<std::pair<std::string, std::string>>(), py::arg("history") = false,
           "(outputs, jacobian, status, iterations, substeps, dt_factor, failed_rows, recorded, weights_version)")
      .def_property_readonly("times", &Model::times, "list of (time, old time)")
      .def_property_readonly("implicit_updates", &Model::implicit_updates)
      .def(
          "last_failure", [](const Model & model)
          { return std::const_pointer_cast<Failure>(unlocked([&] { return model.last_failure(); })); },
          "matlaw._core.Failure, or None")
      .def("forward", &forward, py::arg("inputs"))
      .def("jvp", &jvp, py::arg("inputs"), py::arg("tangents"))
      .def("jacobian", &jacobian, py::arg("inputs"))
      .def("named_parameters", [](const Model & model) { return to_python(model.named_parameters()); })
      .def(
          "set_parameter", [](Model & model, const std::string & name, const py::object & value)
          { model.set_parameter(name, eager::to_tensor(value, "parameter '" + name + "'")); }, py::arg("name"),
          py::arg("value"))
      .def_property_readonly(
          "weight_shapes",
          [](const Model & model)
          {
            py::list shapes;
            for (const auto & info : model.weight_infos())
              shapes.append(py::make_tuple(info.name, info.shape));
            return shapes;
          },
          "list of (name, shape)")
      .def_property_readonly("weights_version",
                             [](const Model & model)
                             {
                               const auto weights = model.weights();
                               return weights ? weights->version : 0;
                             })
      .def(
          "weights",
          [](const Model & model)
          {
            TensorMap copies;
            if (const auto weights = model.weights())
              for (const auto & [name, tensor] : weights->tensors)
                copies[name] = tensor.clone();
            return to_python(copies);
          },
          "copies, by name")
      .def(
          "update_weights",
          [](Model & model, const py::object & weights, bool user_managed)
          {
            const auto tensors = eager::to_tensor_map(weights, "weight");
            return unlocked([&] { return model.update_weights(tensors, {.user_managed = user_managed}); });
          },
          py::arg("weights"), py::arg("user_managed") = false, "the version")
      .def(
          "update_weights_from", [](Model & model, const std::string & file)
          { return unlocked([&] { return model.update_weights(file); }); }, py::arg("file"), "the version")
      .def_property_readonly(
          "solver_config", [](const Model & model) { return eager::to_python(model.solver_config()); },
          "dict of atol, rtol, miters, ls_type ...")
      .def_property_readonly("solver_configs", &solver_configs, "these by implicit update")
      .def("set_solver_config", &set_solver_config, py::arg("update") = py::none())
      .def("memory_per_call", &memory_per_call, "bytes")
      .def("param_jacobian", &param_jacobian, py::arg("inputs"))
      .def("param_vjp", &param_vjp, py::arg("inputs"), py::arg("cotangents"));

  module.def("load_model", &load, py::arg("path"), py::arg("name") = "", py::kw_only(), py::arg("device") = "cpu",
             py::arg("dtype") = py::none(), py::arg("backend") = "auto", py::arg("threads") = 0,
             py::arg("max_chunk_rows") = 0, py::arg("max_bytes") = 0, py::arg("runtime") = "auto",
             py::arg("fallback") = "eager", py::arg("extensions") = std::vector<std::string>(),
             py::arg("scheduler") = std::shared_ptr<dispatch::Scheduler>(),
             "A compiled law, or the EagerModel that stands in for it; matlaw.load_model documents the arguments.");
  module.def(
      "wrap_eager",
      [](const py::object & model) -> std::shared_ptr<Model> { return std::make_shared<eager::Model>(model.ptr()); },
      py::arg("model"), "The C++ handle of a matlaw.eager.EagerModel.");
}
}
