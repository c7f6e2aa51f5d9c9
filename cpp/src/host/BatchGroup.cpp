#include "matlaw/host/BatchGroup.h"

#include <algorithm>

#include "Snapshot.h"
#include "matlaw/errors.h"

namespace matlaw::host
{
namespace
{
constexpr const char * magic = "matlaw BatchGroup";
constexpr std::uint64_t version = 1;

bool has(const std::vector<std::string> & names, const std::string & name)
{
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Row `i` of `from` becomes row `points[i]` of `to`.
void scatter(const double * from, const std::vector<std::int64_t> & points, std::int64_t size, Span<double> to)
{
  for (std::size_t i = 0; i < points.size(); ++i)
    std::copy_n(from + static_cast<std::ptrdiff_t>(i) * size, size,
                to.begin() + static_cast<std::ptrdiff_t>(points[i] * size));
}
}

struct BatchGroup::Member
{
  std::string name;
  std::vector<std::int64_t> points;
  QuadratureBatch batch;
};

BatchGroup::BatchGroup(std::int64_t n_points) : _n_points(n_points)
{
  if (n_points < 0)
    throw FatalError("BatchGroup: n_points must not be negative, got " + std::to_string(n_points));
  _taken.assign(static_cast<std::size_t>(n_points), 0);
}

BatchGroup::~BatchGroup() = default;
BatchGroup::BatchGroup(BatchGroup &&) noexcept = default;
BatchGroup & BatchGroup::operator=(BatchGroup &&) noexcept = default;

QuadratureBatch & BatchGroup::add(const std::string & name, std::shared_ptr<Model> model,
                                  Span<const std::int64_t> points, const Kinematics & kinematics)
{
  if (has(names(), name))
    throw FatalError("BatchGroup: there is a batch '" + name + "' already");
  auto taken = _taken;
  for (const std::int64_t point : points)
  {
    if (point < 0 || point >= _n_points)
      throw FatalError("BatchGroup: batch '" + name + "' wants point " + std::to_string(point) + "; there are " +
                       std::to_string(_n_points) + " points");
    if (taken[static_cast<std::size_t>(point)])
      throw FatalError("BatchGroup: point " + std::to_string(point) + " of batch '" + name + "' has a law already");
    taken[static_cast<std::size_t>(point)] = 1;
  }
  QuadratureBatch batch(std::move(model), static_cast<std::int64_t>(points.size()), kinematics);
  _members.push_back(std::make_unique<Member>(Member{name, {points.begin(), points.end()}, std::move(batch)}));
  _taken = std::move(taken);
  _evaluated = false;
  return _members.back()->batch;
}

std::int64_t BatchGroup::n_points() const noexcept
{
  return _n_points;
}

std::vector<std::string> BatchGroup::names() const
{
  std::vector<std::string> names;
  for (const auto & member : _members)
    names.push_back(member->name);
  return names;
}

const BatchGroup::Member & BatchGroup::member(const std::string & name) const
{
  for (const auto & member : _members)
    if (member->name == name)
      return *member;
  std::string known;
  for (const auto & member : _members)
    known += (known.empty() ? "'" : ", '") + member->name + "'";
  throw FatalError("BatchGroup: there is no batch '" + name + "'; there are: " + (known.empty() ? "none" : known));
}

QuadratureBatch & BatchGroup::batch(const std::string & name)
{
  return const_cast<Member &>(member(name)).batch;
}

const std::vector<std::int64_t> & BatchGroup::points(const std::string & name) const
{
  return member(name).points;
}

void BatchGroup::set_input(const std::string & name, Span<const double> values)
{
  bool found = false;
  for (const auto & member : _members)
  {
    QuadratureBatch & batch = member->batch;
    if (!has(batch.input_names(), name))
      continue;
    found = true;
    const std::int64_t size = batch.size(name);
    if (static_cast<std::int64_t>(values.size()) != _n_points * size)
      throw FatalError("BatchGroup: '" + name + "' of batch '" + member->name + "' takes " +
                       std::to_string(_n_points * size) + " values (" + std::to_string(_n_points) + " x " +
                       std::to_string(size) + "), got " + std::to_string(values.size()));
    std::vector<double> own;
    own.reserve(member->points.size() * static_cast<std::size_t>(size));
    for (const std::int64_t point : member->points)
      own.insert(own.end(), values.begin() + point * size, values.begin() + (point + 1) * size);
    batch.set_input(name, own);
  }
  if (!found)
    throw FatalError("BatchGroup: no law has an input '" + name + "' that the host sets");
}

void BatchGroup::set_input(const std::string & name, double value)
{
  bool found = false;
  for (const auto & member : _members)
    if (has(member->batch.input_names(), name))
    {
      member->batch.set_input(name, value);
      found = true;
    }
  if (!found)
    throw FatalError("BatchGroup: no law has an input '" + name + "' that the host sets");
}

const Verdict & BatchGroup::evaluate(bool tangent)
{
  if (const auto free = std::find(_taken.begin(), _taken.end(), 0); free != _taken.end())
    throw FatalError("BatchGroup: point " + std::to_string(free - _taken.begin()) + " has no law; add one first");
  Verdict all;
  all.status.resize(static_cast<std::size_t>(_n_points));
  all.iterations.resize(static_cast<std::size_t>(_n_points));
  all.substeps.resize(static_cast<std::size_t>(_n_points));
  bool first = true;
  for (const auto & member : _members)
  {
    const Verdict & said = member->batch.evaluate(tangent);
    for (const std::int64_t row : said.failed_rows)
      all.failed_rows.push_back(member->points[static_cast<std::size_t>(row)]);
    for (std::size_t i = 0; i < member->points.size(); ++i)
    {
      all.status[static_cast<std::size_t>(member->points[i])] = said.status[i];
      all.iterations[static_cast<std::size_t>(member->points[i])] = said.iterations[i];
      if (!said.substeps.empty())
        all.substeps[static_cast<std::size_t>(member->points[i])] = said.substeps[i];
    }
    if (!member->points.empty())
    {
      all.dt_factor = first ? said.dt_factor : std::min(all.dt_factor, said.dt_factor);
      first = false;
    }
  }
  std::sort(all.failed_rows.begin(), all.failed_rows.end());
  _verdict = std::move(all);
  _evaluated = true;
  return _verdict;
}

void BatchGroup::output(const std::string & name, Span<double> values) const
{
  for (const auto & member : _members)
  {
    const double * own = member->batch.output(name);
    const std::int64_t size = member->batch.size(name);
    if (static_cast<std::int64_t>(values.size()) != _n_points * size)
      throw FatalError("BatchGroup: output '" + name + "' of batch '" + member->name + "' has " +
                       std::to_string(_n_points) + " x " + std::to_string(size) + " values, there is room for " +
                       std::to_string(values.size()));
    scatter(own, member->points, size, values);
  }
}

void BatchGroup::tangent(const std::string & out, const std::string & in, Span<double> values) const
{
  for (const auto & member : _members)
  {
    const double * own = member->batch.tangent(out, in);
    const std::int64_t size = member->batch.size(out) * member->batch.size(in);
    if (static_cast<std::int64_t>(values.size()) != _n_points * size)
      throw FatalError("BatchGroup: the derivative '" + out + ":" + in + "' of batch '" + member->name + "' has " +
                       std::to_string(_n_points) + " x " + std::to_string(size) + " values, there is room for " +
                       std::to_string(values.size()));
    scatter(own, member->points, size, values);
  }
}

void BatchGroup::commit()
{
  if (!_evaluated)
    throw FatalError("BatchGroup: there are no results; call evaluate first");
  for (const auto & member : _members)
    member->batch.check_commit();
  for (const auto & member : _members)
    member->batch.commit();
}

void BatchGroup::revert()
{
  for (const auto & member : _members)
    member->batch.revert();
  _evaluated = false;
}

std::vector<std::byte> BatchGroup::save() const
{
  SnapshotWriter out;
  out.text(magic);
  out.integer(version);
  out.integer(_members.size());
  for (const auto & member : _members)
  {
    out.text(member->name);
    out.integer(member->points.size());
    for (const std::int64_t point : member->points)
      out.integer(static_cast<std::uint64_t>(point));
    const auto bytes = member->batch.save();
    out.text({reinterpret_cast<const char *>(bytes.data()), bytes.size()});
  }
  return out.finish();
}

void BatchGroup::restore(Span<const std::byte> bytes)
{
  SnapshotReader in(bytes);
  const auto refuse = [](const std::string & why) { throw FatalError("BatchGroup: restore: " + why); };
  if (in.text() != magic)
    refuse("these bytes are not a saved BatchGroup");
  if (const auto saved = in.integer(); saved != version)
    refuse("the saved state has format version " + std::to_string(saved) + ", this matlaw reads version " +
           std::to_string(version));
  if (const auto saved = in.integer(); saved != _members.size())
    refuse("the saved state has " + std::to_string(saved) + " batches, this group has " +
           std::to_string(_members.size()));
  std::vector<std::string> parts;
  for (const auto & member : _members)
  {
    if (const auto name = in.text(); name != member->name)
      refuse("the saved state has a batch '" + name + "' where this group has '" + member->name + "'");
    std::vector<std::int64_t> points(in.integer());
    for (std::int64_t & point : points)
      point = static_cast<std::int64_t>(in.integer());
    if (points != member->points)
      refuse("batch '" + member->name + "' was saved with other points");
    parts.push_back(in.text());
  }
  in.finish();
  // All or none: what one batch refuses must not leave another restored.
  std::vector<std::vector<std::byte>> before;
  for (const auto & member : _members)
    before.push_back(member->batch.save());
  std::size_t done = 0;
  try
  {
    for (; done < _members.size(); ++done)
      _members[done]->batch.restore({reinterpret_cast<const std::byte *>(parts[done].data()), parts[done].size()});
  }
  catch (const FatalError &)
  {
    for (std::size_t i = 0; i < done; ++i)
      _members[i]->batch.restore(before[i]);
    throw;
  }
  _evaluated = false;
}
}
