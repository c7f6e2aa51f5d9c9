// Several laws side by side: the points of a host with one law for each block of its mesh.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "matlaw/Span.h"
#include "matlaw/host/QuadratureBatch.h"

namespace matlaw::host
{
/// Batches that share out the points 0, ..., n_points - 1 of a host, which sees one set of arrays.
///
///     BatchGroup group(n_points);
///     group.add("steel", steel_law, steel_points);
///     group.add("rubber", rubber_law, rubber_points);
///     group.set_input("strain", strain);                              // (n_points, 6)
///     if (group.evaluate(true).ok())
///       group.output("stress", stress), group.tangent("stress", "strain", tangent), group.commit();
///     else
///       group.revert();
///
/// Each batch has what is its own too: state, parameters, outputs that the other laws do not have. Every wrong call
/// throws FatalError, naming the batch or the variable.
class BatchGroup
{
public:
  explicit BatchGroup(std::int64_t n_points);
  ~BatchGroup();
  BatchGroup(BatchGroup &&) noexcept;
  BatchGroup & operator=(BatchGroup &&) noexcept;
  BatchGroup(const BatchGroup &) = delete;
  BatchGroup & operator=(const BatchGroup &) = delete;

  /// The law of these points, none of which has one yet. The reference is valid for as long as the group.
  QuadratureBatch & add(const std::string & name, std::shared_ptr<Model> model, Span<const std::int64_t> points,
                        const Kinematics & kinematics = {});

  std::int64_t n_points() const noexcept;
  /// Names of the batches, in the order in which they were added.
  std::vector<std::string> names() const;
  QuadratureBatch & batch(const std::string & name);
  /// The host's points of a batch, in its order.
  const std::vector<std::int64_t> & points(const std::string & name) const;

  /// Copies `(n_points, size)` values to every batch whose law has this input; at least one has.
  void set_input(const std::string & name, Span<const double> values);
  /// The same number at every point, for a scalar.
  void set_input(const std::string & name, double value);

  /// Evaluates every batch; all points must have a law. The verdict is in the host's numbering.
  const Verdict & evaluate(bool tangent = false);

  /// Writes `(n_points, size)` values of an output that all laws have in one size.
  void output(const std::string & name, Span<double> values) const;
  /// Writes `(n_points, size of out, size of in)` derivatives that all laws have in one size.
  void tangent(const std::string & out, const std::string & in, Span<double> values) const;

  /// Commits every batch, or none and throws FatalError.
  void commit();
  void revert();

  /// As QuadratureBatch::save() and restore(), for batches of the same names and points.
  std::vector<std::byte> save() const;
  void restore(Span<const std::byte> bytes);

private:
  struct Member;
  const Member & member(const std::string & name) const;

  std::int64_t _n_points;
  std::vector<std::unique_ptr<Member>> _members;
  /// 1 where a point has a law.
  std::vector<std::uint8_t> _taken;
  Verdict _verdict;
  bool _evaluated = false;
};
}
