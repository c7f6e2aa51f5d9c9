#include "aoti/increment.h"

#include <algorithm>
#include <map>
#include <string>

namespace matlaw::aoti
{
solve::Increment increment_of(const artifact::Metadata & metadata)
{
  solve::Increment increment;
  std::map<std::string, std::int64_t> inputs, outputs;
  for (const auto & variable : metadata.inputs)
  {
    inputs[variable.name] = increment.inputs;
    increment.inputs += variable.size;
  }
  for (const auto & variable : metadata.outputs)
  {
    outputs[variable.name] = increment.outputs;
    increment.outputs += variable.size;
  }
  const auto is_old = [&](const std::string & name)
  {
    return std::any_of(metadata.state_pairs.begin(), metadata.state_pairs.end(),
                       [&](const auto & pair) { return pair.old == name; });
  };
  for (const auto & pair : metadata.state_pairs)
  {
    const auto size = std::int64_t(pair.initial.size());
    const auto old = inputs.at(pair.old);
    const auto current = pair.is_state ? outputs.at(pair.current) : inputs.at(pair.current);
    increment.carries.push_back({old, pair.is_state, current, size});
    // Of x, x~1 and x~2 the first alone is the host's to set.
    if (!pair.is_state && !is_old(pair.current))
      increment.ramps.push_back({current, old, size});
  }
  return increment;
}

artifact::Metadata with_substep_graphs(artifact::Metadata metadata)
{
  const auto take = [](auto & usual, auto & of_substeps)
  {
    if (of_substeps)
      usual = of_substeps;
  };
  for (auto & segment : metadata.segments)
  {
    take(segment.jvp, segment.substep_jvp);
    take(segment.param_jvp, segment.substep_param_jvp);
    if (segment.substep_jacobian_given)
      segment.sensitivity.reset(); // it is by the usual givens
    take(segment.jacobian_given, segment.substep_jacobian_given);
    take(segment.dr_dparam, segment.substep_dr_dparam);
  }
  return metadata;
}
}
