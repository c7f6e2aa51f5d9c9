// Evaluates a law inside a Python process, without matlaw's own bindings.
#include <memory>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <matlaw/load_model.h>

/// First row of the first output of a law for inputs that are `value` throughout.
static std::vector<double> evaluate(const std::string & path, const std::string & model, double value)
{
  const auto law = matlaw::load_model(path, model);
  matlaw::TensorMap inputs;
  for (std::size_t i = 0; i < law->input_names().size(); ++i)
  {
    std::vector<std::int64_t> shape{2};
    shape.insert(shape.end(), law->input_base_shapes()[i].begin(), law->input_base_shapes()[i].end());
    inputs[law->input_names()[i]] = at::full(shape, value, at::kDouble);
  }
  const auto row = law->forward(inputs).at(law->output_names()[0])[0].contiguous();
  return {row.const_data_ptr<double>(), row.const_data_ptr<double>() + row.numel()};
}

PYBIND11_MODULE(foreign, module)
{
  module.def("evaluate", &evaluate);
  // The same from a module that gives up the interpreter, as well-behaved ones do.
  module.def("evaluate_unlocked", &evaluate, pybind11::call_guard<pybind11::gil_scoped_release>());
}
