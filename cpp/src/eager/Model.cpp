#include "matlaw/eager/Model.h"

#include <ATen/core/Tensor.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "embedding.h"
#include "matlaw/Failure.h"
#include "python_solver_config.h"
#include "python_tensor.h"

namespace py = pybind11;

namespace matlaw::eager
{
struct Model::Impl
{
  Impl() = default;
  ~Impl();
  Impl(const Impl &) = delete;
  Impl & operator=(const Impl &) = delete;

  /// Fills everything below from `model`. Needs the GIL.
  void describe();

  /// An owned reference; not py::object, as it may have to outlive the interpreter.
  PyObject * model = nullptr;

  py::handle python() const { return model; }

  Description description;
  std::vector<WeightInfo> weight_infos;
  TensorMap parameters;
};

namespace
{
at::ScalarType dtype_of(const std::string & name)
{
  if (name == "float64")
    return at::kDouble;
  if (name == "float32")
    return at::kFloat;
  throw FatalError("eager model: dtype must be float64 or float32, got " + name);
}

TensorMap contiguous(TensorMap tensors)
{
  for (auto & [name, tensor] : tensors)
    tensor = tensor.contiguous();
  return tensors;
}
}

Model::Impl::~Impl()
{
  if (!model || !interpreter_is_usable())
    return;
  const GilLock gil;
  Py_DECREF(model);
}

void Model::Impl::describe()
{
  auto & d = description;
  const py::dict facts = embedding().attr("describe")(python());
  const auto read = [&facts](const char * key, auto & to)
  { to = py::cast<std::remove_reference_t<decltype(to)>>(facts[key]); };
  read("name", d.name);
  read("input_names", d.input_names);
  read("output_names", d.output_names);
  read("input_base_shapes", d.input_base_shapes);
  read("output_base_shapes", d.output_base_shapes);
  read("input_sub_batch_shapes", d.input_sub_batch_shapes);
  read("output_sub_batch_shapes", d.output_sub_batch_shapes);
  read("input_types", d.input_types);
  read("output_types", d.output_types);
  d.device = at::Device(py::cast<std::string>(facts["device"]));
  d.dtype = dtype_of(py::cast<std::string>(facts["dtype"]));
  for (const py::handle pair : facts["derivative_pairs"])
    d.derivative_pairs.push_back({py::cast<std::string>(pair["output"]), py::cast<std::string>(pair["input"])});
  for (const py::handle pair : facts["state_pairs"])
    d.state_pairs.push_back({py::cast<std::string>(pair["current"]), py::cast<std::string>(pair["old"]),
                             py::cast<std::string>(pair["role"]) == "state",
                             py::cast<std::vector<double>>(pair["initial"])});
  read("times", d.times);
  for (const py::handle weight : facts["weights"])
    weight_infos.push_back(
        {py::cast<std::string>(weight[py::int_(0)]), py::cast<std::vector<std::int64_t>>(weight[py::int_(1)])});
  read("implicit_updates", d.implicit_updates);
}

/// Of what Python returned for evaluate(..., history=True).
static void read_history(const py::object & said, Evaluation & result)
{
  for (const py::handle segment : said.attr("history"))
  {
    auto & history = result.history.emplace_back();
    history.unknowns = py::cast<std::vector<std::string>>(segment.attr("unknowns"));
    history.residual = to_tensor(py::reinterpret_borrow<py::object>(segment.attr("residual")), "eager model: residual");
    history.step = to_tensor(py::reinterpret_borrow<py::object>(segment.attr("step")), "eager model: step");
  }
  result.reason = to_tensor(said.attr("reason"), "eager model: reason");
  result.place = to_tensor(said.attr("place"), "eager model: place");
}

Model::Model(const std::string & input, const std::string & model, const std::vector<std::string> & extensions)
    : _impl(std::make_unique<Impl>())
{
  in_python(
      [&]
      {
        _impl->model = embedding().attr("load")(input, model, extensions).release().ptr();
        _impl->describe();
      });
}

Model::Model(_object * eager_model) : _impl(std::make_unique<Impl>())
{
  in_python(
      [&]
      {
        Py_INCREF(eager_model);
        _impl->model = eager_model;
        _impl->describe();
      });
}

_object * Model::python() const noexcept
{
  return _impl->model;
}

Model::~Model() = default;
Model::Model(Model && other) noexcept : _impl(std::move(other._impl)) {}
Model & Model::operator=(Model && other) noexcept
{
  _impl = std::move(other._impl);
  return *this;
}

const Description & Model::description() const
{
  return _impl->description;
}

Evaluation Model::evaluate(const TensorMap & inputs, const EvaluateOptions & options) const
{
  return in_python(
      [&]
      {
        py::dict keywords;
        keywords["jacobian"] = options.jacobian;
        if (options.history)
          keywords["history"] = true;
        if (options.jacobian && !options.pairs.empty())
        {
          py::list pairs;
          for (const auto & pair : options.pairs)
            pairs.append(py::make_tuple(pair.output, pair.input));
          keywords["pairs"] = pairs;
        }
        if (options.weights)
          keywords["weights"] = to_python(options.weights->tensors);
        const py::object said = _impl->python().attr("evaluate")(to_python(inputs), **keywords);
        Evaluation result;
        result.outputs = contiguous(to_tensor_map(said.attr("outputs"), "eager model: outputs"));
        if (options.jacobian)
        {
          result.jacobian = to_block_map(said.attr("jacobian"), "eager model: jacobian");
          for (auto & [name, row] : result.jacobian)
            row = contiguous(std::move(row));
        }
        result.status = to_tensor(said.attr("status"), "eager model: status");
        result.iterations = to_tensor(said.attr("iterations"), "eager model: iterations");
        result.substeps = to_tensor(said.attr("substeps"), "eager model: substeps");
        result.dt_factor = to_tensor(said.attr("dt_factor"), "eager model: dt_factor");
        result.failed_rows = py::cast<std::vector<std::int64_t>>(said.attr("failed_rows"));
        if (options.history)
          read_history(said, result);
        if (options.weights)
          result.weights_version = options.weights->version;
        else if (py::hasattr(said, "weights_version"))
          result.weights_version = py::cast<std::uint64_t>(said.attr("weights_version"));
        return result;
      });
}

std::function<std::shared_ptr<const Failure>()> Model::failing() const
{
  // The Python object of that call; it goes with the lock held.
  const std::shared_ptr<PyObject> run(in_python(
                                          [&]() -> PyObject *
                                          {
                                            if (!py::hasattr(_impl->python(), "last_failing"))
                                              return nullptr;
                                            py::object said = _impl->python().attr("last_failing")();
                                            return said.is_none() ? nullptr : said.release().ptr();
                                          }),
                                      [](PyObject * object)
                                      {
                                        if (!object || !interpreter_is_usable())
                                          return;
                                        const GilLock gil;
                                        Py_DECREF(object);
                                      });
  if (!run)
    return {};
  return [run]
  {
    return in_python(
        [&]
        {
          return std::shared_ptr<const Failure>(
              py::cast<std::shared_ptr<Failure>>(py::handle(run.get()).attr("look_into")()));
        });
  };
}

std::shared_ptr<const Failure> Model::failure_of(const TensorMap & inputs, const Evaluation & evaluation) const
{
  auto failure = last_failure();
  // Another thread's call may have failed meanwhile.
  return failure && failure->failed_rows == evaluation.failed_rows ? failure
                                                                   : matlaw::Model::failure_of(inputs, evaluation);
}

std::pair<TensorMap, TensorMap> Model::jvp(const TensorMap & inputs, const TensorMap & tangents) const
{
  return in_python(
      [&]
      {
        const py::tuple pair = _impl->python().attr("jvp")(to_python(inputs), to_python(tangents));
        return std::pair{contiguous(to_tensor_map(pair[0], "eager model: outputs")),
                         contiguous(to_tensor_map(pair[1], "eager model: directional derivatives"))};
      });
}

const TensorMap & Model::named_parameters() const
{
  in_python(
      [&]
      { _impl->parameters = to_tensor_map(_impl->python().attr("named_parameters")(), "eager model: parameters"); });
  return _impl->parameters;
}

void Model::set_parameter(const std::string & name, const at::Tensor & value)
{
  in_python([&] { _impl->python().attr("set_parameter")(name, to_python(value)); });
}

BlockMap Model::param_jacobian(const TensorMap & inputs) const
{
  return in_python(
      [&]
      {
        return to_block_map(_impl->python().attr("param_jacobian")(to_python(inputs)), "eager model: param_jacobian");
      });
}

TensorMap Model::param_vjp(const TensorMap & inputs, const TensorMap & cotangents) const
{
  return in_python(
      [&]
      {
        return to_tensor_map(_impl->python().attr("param_vjp")(to_python(inputs), to_python(cotangents)),
                             "eager model: param_vjp");
      });
}

const std::vector<WeightInfo> & Model::weight_infos() const
{
  return _impl->weight_infos;
}

std::shared_ptr<const WeightSet> Model::weights() const
{
  if (_impl->weight_infos.empty())
    return nullptr;
  return in_python(
      [&]() -> std::shared_ptr<const WeightSet>
      {
        const auto set = std::make_shared<WeightSet>();
        set->tensors = to_tensor_map(_impl->python().attr("weights")(), "eager model: weights");
        set->version = py::cast<std::uint64_t>(_impl->python().attr("weights_version"));
        return set;
      });
}

std::uint64_t Model::install_weights(std::shared_ptr<WeightSet> weights)
{
  return in_python(
      [&]
      {
        return weights->version =
                   py::cast<std::uint64_t>(_impl->python().attr("install_weights")(to_python(weights->tensors)));
      });
}

solve::NewtonConfig Model::solver_config(const std::string & update) const
{
  const auto & name = implicit_updates()[updates_of(update).front()];
  return in_python([&] { return with_changes({}, py::dict(_impl->python().attr("solver_configs")[py::str(name)])); });
}

void Model::set_solver_config(const solve::NewtonConfig & config, const std::string & update)
{
  in_python(
      [&]
      {
        const py::object name = update.empty() ? py::object(py::none()) : py::object(py::str(update));
        _impl->python().attr("set_solver_config")(name, **to_python(config));
      });
}
}
