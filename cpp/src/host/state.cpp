// Old variables, and the end of a step.
#include <algorithm>

#include <ATen/core/Tensor.h>
#include <ATen/ops/tensor.h>

#include "Implementation.h"

namespace matlaw::host
{
const at::Tensor & QuadratureBatch::Impl::state(const std::string & name) const
{
  variables.require_state(name);
  at::Tensor & cached = _host_states[name];
  if (!cached.defined())
    cached = to_host(_states.at(name));
  return cached;
}

void QuadratureBatch::Impl::set_state(const std::string & name, const double * values)
{
  set_state(name, Rows::all(n_points), values);
}

void QuadratureBatch::Impl::set_state(const std::string & name, const Rows & rows, const double * values)
{
  variables.require_state(name);
  const at::Tensor fresh = to_law(copy_of(values, join({rows.size()}, variables.law_shape(name))));
  _host_states.clear();
  drop_results();
  rows.put(_states.at(name), fresh);
}

void QuadratureBatch::Impl::check_commit() const
{
  const Evaluation & evaluation = evaluated();
  if (_committed)
    throw FatalError(batch() + ": this step was committed already; evaluate the next one first");
  const auto stale = std::count(_stale.begin(), _stale.end(), 1);
  if (stale > 0)
    throw FatalError(batch() + ": " + std::to_string(stale) + " points (the first is " +
                     std::to_string(std::find(_stale.begin(), _stale.end(), 1) - _stale.begin()) +
                     ") have an input that was set after the last evaluate; evaluate again before commit");
  if (!evaluation.ok())
    throw FatalError(batch() + ": the step cannot be committed, " + std::to_string(evaluation.failed_rows.size()) +
                     " points failed (the first is " + std::to_string(evaluation.failed_rows.front()) +
                     "); call revert and try a smaller step");
}

void QuadratureBatch::Impl::commit()
{
  check_commit();
  std::map<std::string, at::Tensor> next;
  for (const StatePair & pair : model->state_pairs())
  {
    if (pair.is_state)
      next[pair.old] = _evaluation->outputs.at(pair.current).contiguous();
    else if (const auto older = _states.find(pair.current); older != _states.end())
      next[pair.old] = older->second;
    else if (variables.is_reduced(pair.current))
      next[pair.old] = _evaluated_strain;
    else
      next[pair.old] =
          to_law(_inputs.at(pair.current).values).expand(batched(variables.law_shape(pair.old))).contiguous();
  }
  if (_stress_free)
  {
    const auto free = stress_free_components(variables.kinematics().hypothesis);
    const auto index = at::tensor(std::vector<std::int64_t>(free.begin(), free.end()), at::kLong);
    _free_strain = full_strain().index_select(1, index);
  }
  _states = std::move(next);
  say(logging::Level::debug, [] { return "the step is committed"; });
  _host_states.clear();
  _committed_inputs = _inputs;
  // Results stay readable: hosts write them out after the commit.
  _committed = true;
  mark_stale();
}

void QuadratureBatch::Impl::revert()
{
  for (const auto & [name, value] : _committed_inputs)
    _inputs[name] = value;
  drop_results();
  say(logging::Level::info, [] { return "back at the last committed step"; });
}
}
