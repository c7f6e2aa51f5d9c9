#include "artifact/Metadata.h"

namespace matlaw::artifact
{
std::vector<std::int64_t> Variable::public_shape() const
{
  auto shape = sub_batch_shape;
  shape.insert(shape.end(), base_shape.begin(), base_shape.end());
  return shape;
}

std::int64_t Variable::base_size() const
{
  std::int64_t size = 1;
  for (const auto n : base_shape)
    size *= n;
  return size;
}

std::vector<solve::NewtonConfig> Metadata::solvers() const
{
  std::vector<solve::NewtonConfig> found;
  for (const auto & segment : segments)
    if (segment.implicit)
      found.push_back(segment.solver);
  return found;
}

std::vector<std::string> Segment::stems() const
{
  std::vector<std::string> names;
  if (!implicit)
  {
    names.push_back(value);
    if (jvp)
      names.push_back(jvp->stem);
    if (param_jvp)
      names.push_back(param_jvp->stem);
    return names;
  }
  names = {residual};
  for (const auto & stem : {jacobian, matvec, precond_setup})
    if (!stem.empty())
      names.push_back(stem);
  if (predictor)
    names.push_back(predictor->stem);
  if (jacobian_given)
    names.push_back(jacobian_given->stem);
  if (dr_dparam)
    names.push_back(dr_dparam->stem);
  return names;
}

std::vector<std::string> Segment::substep_stems() const
{
  std::vector<std::string> names;
  for (const auto * jvp : {&substep_jvp, &substep_param_jvp})
    if (*jvp)
      names.push_back((*jvp)->stem);
  if (substep_jacobian_given)
    names.push_back(substep_jacobian_given->stem);
  if (substep_dr_dparam)
    names.push_back(substep_dr_dparam->stem);
  return names;
}

std::vector<std::string> Segment::native_stems() const
{
  std::vector<std::string> names;
  if (!newton_step.empty())
    names.push_back(newton_step);
  if (sensitivity)
    names.push_back(sensitivity->stem);
  return names;
}
}
