// Rows of batch-last arrays: padded, taken out, put back.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "matlaw/native/abi.h"

namespace matlaw::support
{
/// So many rows in whole blocks.
inline std::int64_t whole_blocks(std::int64_t rows)
{
  return (rows + native::row_block - 1) / native::row_block * native::row_block;
}

/// Fills the padding of an array (n, ld), columns [rows, ld), with copies of its last row.
template <typename Real>
void pad_rows(Real * array, std::int64_t n, std::int64_t ld, std::int64_t rows)
{
  for (std::int64_t c = 0; c < n; c++)
    std::fill(array + c * ld + rows, array + (c + 1) * ld, array[c * ld + rows - 1]);
}

/// Copies the named rows of `from`, (n, ld), to `to`, (n, width), padded.
template <typename Real>
void gather_rows(const Real * from, std::int64_t ld, const std::vector<std::int32_t> & rows, Real * to,
                 std::int64_t width, std::int64_t n)
{
  const auto count = std::int64_t(rows.size());
  for (std::int64_t c = 0; c < n; c++)
    for (std::int64_t p = 0; p < count; p++)
      to[c * width + p] = from[c * ld + rows[p]];
  pad_rows(to, n, width, count);
}

/// Copies `from`, (n, width), to the named rows of `to`, (n, ld).
template <typename Real>
void scatter_rows(const Real * from, std::int64_t width, const std::vector<std::int32_t> & rows, Real * to,
                  std::int64_t ld, std::int64_t n)
{
  for (std::int64_t c = 0; c < n; c++)
    for (std::size_t p = 0; p < rows.size(); p++)
      to[c * ld + rows[p]] = from[c * width + p];
}
}
