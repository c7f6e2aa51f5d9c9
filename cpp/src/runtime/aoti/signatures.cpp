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
  const auto with_parameters = [&](std::vector<graph::Shape> shapes, const Segment & segment)
  {
    for (const auto & name : segment.parameters)
      shapes.push_back(slot_shape(*names.parameters.at(name)));
    return shapes;
  };

  std::map<std::string, graph::Signature> all;
  for (const auto & segment : metadata.segments)
  {
    if (!segment.implicit)
    {
      const auto in = with_parameters(shapes_of(segment.inputs), segment);
      auto out = shapes_of(segment.outputs);
      all[segment.value] = {in, out, dtype};
      const auto block = [&](const artifact::Pair & pair, const artifact::Variable & by)
      {
        auto shape = names.variables.at(pair.output)->base_shape;
        shape.insert(shape.end(), by.base_shape.begin(), by.base_shape.end());
        return shape;
      };
      if (segment.jvp)
      {
        for (const auto & pair : segment.jvp->pairs)
          out.push_back(block(pair, *names.variables.at(pair.input)));
        all[segment.jvp->stem] = {in, out, dtype};
      }
      if (segment.param_jvp)
      {
        out.clear();
        for (const auto & pair : segment.param_jvp->pairs)
          out.push_back(block(pair, *names.parameters.at(pair.input)));
        all[segment.param_jvp->stem] = {in, out, dtype};
      }
      continue;
    }
    std::vector<std::string> unknowns;
    for (const auto & slice : segment.unknowns)
      unknowns.push_back(slice.name);
    auto in = shapes_of(unknowns);
    const auto given = shapes_of(segment.givens);
    in.insert(in.end(), given.begin(), given.end());
    in = with_parameters(in, segment);
    const auto n = segment.size;
    all[segment.residual] = {in, {{n}}, dtype};
    all[segment.jacobian] = {in, {{n, n}, {n}}, dtype};
    if (segment.jacobian_given)
    {
      all[segment.jacobian_given->stem] = {in, {{n, total_size(segment.jacobian_given->givens)}}, dtype};
    }
    if (segment.dr_dparam)
      all[segment.dr_dparam->stem] = {in, {{n, n}, {n, total_size(segment.dr_dparam->parameters)}}, dtype};
    if (segment.predictor)
      all[segment.predictor->stem] = {with_parameters(shapes_of(segment.predictor->inputs), segment),
                                      shapes_of(segment.predictor->outputs), dtype};
  }
  return all;
}
}
