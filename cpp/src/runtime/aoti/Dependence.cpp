#include "aoti/Dependence.h"

#include <algorithm>

namespace matlaw::aoti
{
using artifact::Metadata;
using artifact::Segment;

Dependence::Dependence(const Metadata & metadata, By by, Start start) : _metadata(metadata), _by(by), _start(start)
{
  find_needed();
}

std::vector<std::pair<std::string, std::int64_t>> Dependence::seeds() const
{
  const auto wanted = [&](const std::vector<artifact::Pair> & pairs, const std::string & name)
  {
    return _start == Start::SEEDS ||
           std::any_of(pairs.begin(), pairs.end(), [&](const auto & pair) { return pair.input == name; });
  };
  std::vector<std::pair<std::string, std::int64_t>> found;
  if (_by == By::INPUTS)
  {
    for (const auto & input : _metadata.inputs)
      if (wanted(_metadata.derivatives, input.name))
        found.emplace_back(input.name, input.size);
  }
  else
    for (const auto & parameter : _metadata.parameters)
      if (wanted(_metadata.param_derivatives, parameter.name))
        found.emplace_back(seed_of(parameter.name), parameter.size);
  return found;
}

std::vector<artifact::Pair> Dependence::requested() const
{
  if (_start == Start::GIVEN)
  {
    std::vector<artifact::Pair> all;
    for (const auto & output : _metadata.outputs)
      for (const auto & [seed, size] : seeds())
        all.push_back({output.name, seed});
    return all;
  }
  if (_by == By::INPUTS)
    return _metadata.derivatives;
  auto pairs = _metadata.param_derivatives;
  for (auto & pair : pairs)
    pair.input = seed_of(pair.input);
  return pairs;
}

std::pair<std::vector<artifact::Pair>, std::vector<artifact::Pair>>
Dependence::forward_pairs(const Segment & segment) const
{
  std::pair<std::vector<artifact::Pair>, std::vector<artifact::Pair>> pairs;
  if (segment.jvp)
    pairs.first = segment.jvp->pairs;
  if (segment.param_jvp && _by == By::PARAMETERS)
    for (const auto & pair : segment.param_jvp->pairs)
      pairs.second.push_back({pair.output, seed_of(pair.input)});
  return pairs;
}

/// (output, input or seed) of a segment through which derivatives may pass, or where they begin
std::vector<artifact::Pair> Dependence::local_pairs(const Segment & segment) const
{
  if (!segment.implicit)
  {
    auto [pairs, own] = forward_pairs(segment);
    pairs.insert(pairs.end(), own.begin(), own.end());
    return pairs;
  }
  std::vector<artifact::Pair> pairs;
  for (const auto & unknown : segment.unknowns)
  {
    if (segment.jacobian_given)
      for (const auto & given : segment.jacobian_given->givens)
        pairs.push_back({unknown.name, given.name});
    if (segment.dr_dparam && _by == By::PARAMETERS)
      for (const auto & parameter : segment.dr_dparam->parameters)
        pairs.push_back({unknown.name, seed_of(parameter.name)});
  }
  return pairs;
}

void Dependence::find_needed()
{
  using SeedsOf = std::map<std::string, std::set<std::string>>;
  SeedsOf depends;
  for (const auto & [seed, size] : seeds())
  {
    depends[seed].insert(seed);
    if (_start == Start::GIVEN)
      for (const auto & input : _metadata.inputs)
        depends[input.name].insert(seed);
  }
  std::vector<SeedsOf> before;
  for (const auto & segment : _metadata.segments)
  {
    before.push_back(depends);
    for (const auto & name : segment.outputs)
      depends[name].clear();
    for (const auto & pair : local_pairs(segment))
      depends[pair.output].insert(before.back()[pair.input].begin(), before.back()[pair.input].end());
  }
  SeedsOf wanted;
  for (const auto & pair : requested())
    if (depends[pair.output].count(pair.input))
      wanted[pair.output].insert(pair.input);
  _needed.assign(_metadata.segments.size(), {});
  for (auto i = std::int64_t(_metadata.segments.size()) - 1; i >= 0; i--)
  {
    const auto & segment = _metadata.segments[i];
    auto & here = _needed[i];
    for (const auto & name : segment.outputs)
    {
      here[name] = wanted[name];
      wanted[name].clear();
    }
    for (const auto & pair : local_pairs(segment))
      for (const auto & seed : here[pair.output])
        if (before[i][pair.input].count(seed))
          wanted[pair.input].insert(seed);
  }
}
}
