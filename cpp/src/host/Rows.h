// Some of the points of a batch.
#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

#include "matlaw/Span.h"

namespace matlaw::host
{
/// All points of a batch, a range of them or a list of them. A tensor of the batch has the points as its first axis.
class Rows
{
public:
  static Rows all(std::int64_t n_points);
  /// Points begin, ..., end - 1.
  static Rows range(std::int64_t begin, std::int64_t end);
  static Rows of(Span<const std::int64_t> points);
  /// `index`: int64, (rows), on the CPU
  static Rows of(at::Tensor index);

  std::int64_t size() const noexcept { return _size; }
  std::int64_t operator[](std::int64_t i) const;
  /// These are the points 0, ..., n_points - 1 in their order.
  bool are_all(std::int64_t n_points) const;

  /// The rows of `full`, (n_points, ...) -> (rows, ...).
  at::Tensor take(const at::Tensor & full) const;
  /// Replaces the rows of `full` by `part`; in place, or in a copy where something else holds `full`.
  void put(at::Tensor & full, const at::Tensor & part) const;

private:
  std::int64_t _begin = 0;
  std::int64_t _size = 0;
  /// Defined for a list.
  at::Tensor _index;
};
}
