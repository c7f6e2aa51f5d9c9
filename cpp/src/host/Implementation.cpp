#include "Implementation.h"

#include <algorithm>

#include <ATen/core/Tensor.h>
#include <ATen/ops/zeros.h>

namespace matlaw::host
{
namespace
{
std::shared_ptr<Model> checked(std::shared_ptr<Model> model, std::int64_t n_points)
{
  if (!model)
    throw FatalError("QuadratureBatch: no model was given");
  if (n_points < 0)
    throw FatalError("QuadratureBatch of law '" + model->name() + "': n_points must not be negative, got " +
                     std::to_string(n_points));
  return model;
}
}

QuadratureBatch::Impl::Impl(std::shared_ptr<Model> law, std::int64_t points, const Kinematics & kinematics)
    : model(checked(std::move(law), points)),
      n_points(points),
      variables(*model, kinematics)
{
  for (const StatePair & pair : model->state_pairs())
    _states[pair.old] = initial_state(pair, n_points);
  const auto free = static_cast<std::int64_t>(stress_free_components(kinematics.hypothesis).size());
  if (free > 0)
    _stress_free.emplace(variables.kinematics());
  _free_strain = at::zeros({n_points, free}, host_options());
  mark_stale();
  say(logging::Level::info,
      [&]
      {
        return std::to_string(n_points) + " points, hypothesis " + to_text(kinematics.hypothesis) + ", " +
               std::to_string(_states.size()) + " old variables";
      });
}

at::Tensor QuadratureBatch::Impl::to_law(const at::Tensor & tensor) const
{
  return tensor.to(at::TensorOptions().dtype(model->dtype()).device(model->device()));
}

at::Tensor QuadratureBatch::Impl::initial_state(const StatePair & pair, std::int64_t rows) const
{
  const Shape & shape = variables.law_shape(pair.old);
  return to_law(copy_of(pair.initial.data(), shape)).expand(join({rows}, shape)).contiguous();
}

void QuadratureBatch::Impl::drop_results()
{
  _evaluation.reset();
  _evaluated_inputs.clear();
  _evaluated_strain.reset();
  _has_tangent = false;
  _committed = false;
  _host_outputs.clear();
  _host_tangents.clear();
  _host_strain.reset();
  _host_stress.reset();
  mark_stale();
}

void QuadratureBatch::Impl::mark_stale()
{
  _stale.assign(static_cast<std::size_t>(n_points), 1);
}
}
