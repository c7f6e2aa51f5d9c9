#include "Law.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include <ATen/ATen.h>

#include "PythonSetup.h"
#include "matlaw/aoti/Model.h"
#include "matlaw/load_model.h"
#include "support/text.h"

namespace matlaw::umat
{
static std::int64_t product(const std::vector<std::int64_t> & shape)
{
  return std::accumulate(shape.begin(), shape.end(), std::int64_t(1), std::multiplies<>());
}

static std::vector<Variable> variables(const std::vector<std::string> & names, const std::vector<std::string> & types,
                                       const std::vector<std::vector<std::int64_t>> & bases,
                                       const std::vector<std::vector<std::int64_t>> & sub_batches, std::int64_t & total)
{
  std::vector<Variable> all;
  for (std::size_t k = 0; k < names.size(); k++)
  {
    const auto base = product(bases[k]);
    all.push_back({names[k], types[k], base * product(sub_batches[k]), base, total});
    total += all.back().size;
  }
  return all;
}

Law::Law(const Settings & settings)
{
  LoadOptions options;
  options.threads = 1; // the host's threads call, each for a point of its own
  {
    const PythonSetup setup(settings.libpython, settings.python_bin);
    _model = load_model(settings.law, settings.model, options);
  }
  _compiled = dynamic_cast<const aoti::Model *>(_model.get());
  _inputs = variables(_model->input_names(), _model->input_types(), _model->input_base_shapes(),
                      _model->input_sub_batch_shapes(), _input_size);
  _outputs = variables(_model->output_names(), _model->output_types(), _model->output_base_shapes(),
                       _model->output_sub_batch_shapes(), _output_size);
  const auto size_of = [](const std::vector<Variable> & all, const std::string & name)
  { return std::find_if(all.begin(), all.end(), [&](const auto & v) { return v.name == name; })->size; };
  for (const auto & pair : _model->derivative_pairs())
  {
    Block block{pair.output, pair.input, size_of(_outputs, pair.output), size_of(_inputs, pair.input), _jacobian_size};
    _jacobian_size += block.rows * block.columns;
    _blocks.push_back(block);
  }
}

Law::~Law() = default;

std::vector<double> Law::initial(const std::string & input) const
{
  for (const auto & pair : _model->state_pairs())
    if (pair.old == input && pair.is_state)
      return pair.initial;
  return {};
}

std::vector<std::string> Law::parameter_names() const
{
  std::vector<std::string> names;
  for (const auto & [name, value] : _model->named_parameters())
    names.push_back(name);
  return names;
}

void Law::set_parameter(const std::string & name, double value)
{
  const auto & known = _model->named_parameters();
  const auto found = known.find(name);
  if (found == known.end())
    throw FatalError("The law '" + _model->name() + "' has no parameter '" + name + "' that can be changed; it has " +
                     support::quoted_list(parameter_names()) + "." + support::did_you_mean(name, parameter_names()) +
                     " matlaw-compile -p keeps a parameter changeable.");
  if (found->second.numel() != 1)
    throw FatalError("The parameter '" + name + "' has " + std::to_string(found->second.numel()) +
                     " components; PROPS sets scalars only.");
  _model->set_parameter(name, at::full(found->second.sizes(), value, found->second.options().dtype(_model->dtype())));
}

Verdict Law::evaluate(const double * inputs, double * outputs, double * jacobian) const
{
  if (!_compiled)
    return evaluate_with_tensors(inputs, outputs, jacobian);
  const auto verdict = _compiled->evaluate_point(inputs, outputs, jacobian);
  return {verdict.status == Status::CONVERGED, verdict.status == Status::BAD_INPUT, verdict.dt_factor};
}

Verdict Law::evaluate_with_tensors(const double * inputs, double * outputs, double * jacobian) const
{
  TensorMap values;
  for (std::size_t k = 0; k < _inputs.size(); k++)
  {
    auto shape = _model->input_sub_batch_shapes()[k];
    shape.insert(shape.begin(), 1);
    shape.insert(shape.end(), _model->input_base_shapes()[k].begin(), _model->input_base_shapes()[k].end());
    values[_inputs[k].name] =
        at::from_blob(const_cast<double *>(inputs + _inputs[k].offset), shape, at::kDouble).to(_model->dtype());
  }
  const auto result = _model->evaluate(values, {.jacobian = jacobian != nullptr});
  const auto copy = [](const at::Tensor & tensor, std::int64_t size, double * to)
  {
    const auto flat = tensor.to(at::kDouble).contiguous();
    if (flat.numel() == size)
      std::copy_n(flat.const_data_ptr<double>(), size, to);
    else
      std::fill_n(to, size, 0.0);
  };
  for (const auto & output : _outputs)
    copy(result.outputs.at(output.name), output.size, outputs + output.offset);
  if (jacobian)
    for (const auto & block : _blocks)
      copy(result.jacobian.at(block.output).at(block.input), block.rows * block.columns, jacobian + block.offset);
  const auto status = Status(result.status.reshape(-1)[0].item<std::int8_t>());
  return {status == Status::CONVERGED, status == Status::BAD_INPUT, result.dt_factor.reshape(-1)[0].item<double>()};
}
}
