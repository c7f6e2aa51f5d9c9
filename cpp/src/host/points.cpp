// Which points: ranges, lists, and a mesh that changes.
#include <algorithm>

#include <ATen/core/Tensor.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include "Implementation.h"

namespace matlaw::host
{
Rows QuadratureBatch::Impl::range(std::int64_t begin, std::int64_t end) const
{
  if (begin < 0 || end < begin || end > n_points)
    throw FatalError(batch() + ": there is no range of points [" + std::to_string(begin) + ", " + std::to_string(end) +
                     "); there are " + std::to_string(n_points) + " points");
  return Rows::range(begin, end);
}

Rows QuadratureBatch::Impl::rows(Span<const std::int64_t> points) const
{
  std::vector<bool> seen(static_cast<std::size_t>(n_points), false);
  for (const std::int64_t point : points)
  {
    if (point < 0 || point >= n_points)
      throw FatalError(batch() + ": there is no point " + std::to_string(point) + "; there are " +
                       std::to_string(n_points) + " points");
    if (seen[static_cast<std::size_t>(point)])
      throw FatalError(batch() + ": point " + std::to_string(point) + " is listed twice");
    seen[static_cast<std::size_t>(point)] = true;
  }
  return Rows::of(points);
}

void QuadratureBatch::Impl::remap(Span<const std::int64_t> from)
{
  const auto points = static_cast<std::int64_t>(from.size());
  std::vector<std::int64_t> source(from.begin(), from.end());
  std::vector<std::int64_t> fresh;
  for (std::int64_t i = 0; i < points; ++i)
  {
    auto & old = source[static_cast<std::size_t>(i)];
    if (old < -1 || old >= n_points)
      throw FatalError(batch() + ": new point " + std::to_string(i) + " cannot take the state of point " +
                       std::to_string(old) + "; there are " + std::to_string(n_points) +
                       " points, and -1 for the initial state");
    if (old == -1)
      fresh.push_back(i);
  }
  const at::Tensor fresh_index = at::tensor(fresh, at::kLong);
  // A new point takes point 0 first, where there is one, and its own values after that.
  std::replace(source.begin(), source.end(), std::int64_t{-1}, std::int64_t{0});
  const Rows rows = Rows::of(at::tensor(source, at::kLong));
  const auto moved = [&](const at::Tensor & old, const at::Tensor & start)
  {
    if (n_points == 0)
      return start.repeat_interleave(points, 0);
    at::Tensor result = rows.take(old);
    if (!fresh.empty())
      result.index_copy_(0, fresh_index.to(old.device()),
                         start.repeat_interleave(static_cast<std::int64_t>(fresh.size()), 0));
    return result;
  };

  std::map<std::string, at::Tensor> states;
  for (const StatePair & pair : model->state_pairs())
    states[pair.old] = moved(_states.at(pair.old), initial_state(pair, 1));
  const at::Tensor free_strain = moved(_free_strain, at::zeros({1, _free_strain.size(1)}, host_options()));
  auto inputs = _inputs;
  auto committed = _committed_inputs;
  auto parameters = _parameters;
  const auto per_point = [](const auto & entry) { return !entry.second.constant && entry.second.values.defined(); };
  if (!fresh.empty())
  {
    std::erase_if(inputs, per_point);
    std::erase_if(committed, per_point);
    for (auto & [name, value] : parameters)
      if (!value.constant)
        value.values.reset();
  }
  else
    for (auto * values : {&inputs, &committed, &parameters})
      for (auto & entry : *values)
        if (per_point(entry))
          entry.second.values = rows.take(entry.second.values);

  say(logging::Level::info,
      [&]
      {
        return std::to_string(n_points) + " points became " + std::to_string(points) + ", of which " +
               std::to_string(fresh.size()) + " start afresh";
      });
  n_points = points;
  _states = std::move(states);
  _free_strain = free_strain;
  _inputs = std::move(inputs);
  _committed_inputs = std::move(committed);
  _parameters = std::move(parameters);
  _host_states.clear();
  drop_results();
}
}
