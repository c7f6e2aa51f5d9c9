// Where an iterative linear solve stands, row by row.
#pragma once

#include <cstdint>
#include <vector>

#include "support/AlignedBuffer.h"

namespace matlaw::solve
{
/// Rows of A x = b. Those that no longer run are left alone: their x is final.
template <typename Real>
struct KrylovRows
{
  std::int64_t n = 0, ld = 0, rows = 0, max_its = 0;
  /// (n, ld) each; r = b - A x where a pass begins
  Real * x = nullptr;
  Real * r = nullptr;
  /// Per column up to ld; padding never runs
  std::vector<std::uint8_t> running;
  std::vector<double> tolerance, norm;
  std::vector<std::int32_t> iterations;
};
}
