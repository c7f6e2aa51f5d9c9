#include "aoti/signatures.h"

#include "aoti/Names.h"

namespace matlaw::aoti
{
using artifact::Metadata;
using artifact::Segment;

namespace
{
graph::Shape slot_shape(const artifact::Variable & variable)
{
  auto shape = variable.base_shape;
  shape.insert(shape.end(), variable.sub_batch_shape.begin(), variable.sub_batch_shape.end());
  return shape;
}
}

std::map<std::string, graph::Signature> signatures(const Metadata & metadata, at::ScalarType dtype)
{
  const Names names(metadata);
  const auto shapes_of = [&](const std::vector<std::string> & variables)
  {
    std::vector<graph::Shape> shapes;
    for (const auto & name : variables)
      shapes.push_back(slot_shape(*names.variables.at(name)));
    return shapes;
  };
  const auto with_constants = [&](std::vector<graph::Shape> shapes, const Segment & segment)
  {
    for (const auto & name : segment.parameters)
      shapes.push_back(slot_shape(*names.parameters.at(name)));
    for (const auto & name : segment.weights)
      shapes.push_back(names.weights.at(name)->public_shape());
    return shapes;
  };

  std::map<std::string, graph::Signature> all;
  for (const auto & segment : metadata.segments)
  {
    const auto weights = segment.weights.size();
    /// A graph whose inputs end with the weights, but for `behind` ones.
    const auto add = [&](const std::string & stem, std::vector<graph::Shape> in, std::vector<graph::Shape> out,
                         std::size_t behind = 0)
    {
      const auto first = in.size() - weights - behind;
      all[stem] = {std::move(in), std::move(out), dtype, first, weights};
    };
    if (!segment.implicit)
    {
      const auto in = with_constants(shapes_of(segment.inputs), segment);
      const auto out = shapes_of(segment.outputs);
      add(segment.value, in, out);
      const auto block = [&](const artifact::Pair & pair, const artifact::Variable & by)
      {
        auto shape = slot_shape(*names.variables.at(pair.output));
        const auto columns = slot_shape(by);
        shape.insert(shape.end(), columns.begin(), columns.end());
        return shape;
      };
      for (const auto & jvp : {segment.jvp, segment.substep_jvp})
        if (jvp)
        {
          auto with_blocks = out;
          for (const auto & pair : jvp->pairs)
            with_blocks.push_back(block(pair, *names.variables.at(pair.input)));
          add(jvp->stem, in, with_blocks);
        }
      for (const auto & jvp : {segment.param_jvp, segment.substep_param_jvp})
        if (jvp)
        {
          std::vector<graph::Shape> blocks;
          for (const auto & pair : jvp->pairs)
            blocks.push_back(block(pair, *names.parameters.at(pair.input)));
          add(jvp->stem, in, blocks);
        }
      continue;
    }
    std::vector<std::string> unknowns;
    for (const auto & slice : segment.unknowns)
      unknowns.push_back(slice.name);
    auto in = shapes_of(unknowns);
    const auto given = shapes_of(segment.givens);
    in.insert(in.end(), given.begin(), given.end());
    in = with_constants(in, segment);
    const auto n = segment.size;
    add(segment.residual, in, {{n}});
    if (!segment.jacobian.empty())
      add(segment.jacobian, in, {{n, n}, {n}});
    if (!segment.precond_setup.empty())
      add(segment.precond_setup, in, {{segment.structure.preconditioner_size()}});
    if (!segment.matvec.empty())
    {
      auto with_vector = in;
      with_vector.push_back({n});
      add(segment.matvec, with_vector, {{n}}, 1);
    }
    for (const auto & graph : {segment.jacobian_given, segment.substep_jacobian_given})
      if (graph)
        add(graph->stem, in, {{n, total_size(graph->givens)}});
    if (!segment.newton_step.empty())
      add(segment.newton_step, in, {{n}, {n}, {}});
    if (segment.sensitivity)
      add(segment.sensitivity->stem, in, {{n, total_size(segment.sensitivity->givens)}, {}});
    for (const auto & graph : {segment.dr_dparam, segment.substep_dr_dparam})
      if (graph)
        add(graph->stem, in, {{n, n}, {n, total_size(graph->parameters)}});
    if (segment.predictor)
      add(segment.predictor->stem, with_constants(shapes_of(segment.predictor->inputs), segment),
          shapes_of(segment.predictor->outputs));
  }
  return all;
}
}
