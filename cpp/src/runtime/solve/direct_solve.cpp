#include "solve/direct_solve.h"

#include <algorithm>

#include "matlaw/solve/BatchedLU.h"
#include "solve/multiply.h"
#include "support/AlignedBuffer.h"

namespace matlaw::solve
{
namespace
{
using Indices = std::vector<std::int64_t>;

/// What no block has, ascending.
Indices left_over(const std::vector<EliminationBlock> & blocks, Indices EliminationBlock::* part, std::int64_t n)
{
  std::vector<std::uint8_t> taken(n, 0);
  for (const auto & block : blocks)
    for (const auto k : block.*part)
      taken[k] = 1;
  Indices left;
  for (std::int64_t k = 0; k < n; k++)
    if (!taken[k])
      left.push_back(k);
  return left;
}

template <typename Real>
struct EliminationWorkspace
{
  /// Diagonal block; per block the right-hand sides and solutions [A_ks | b_k]; the complement and its right-hand sides
  support::AlignedBuffer<Real> diagonal, solutions, coupling, complement, right;
  std::vector<std::uint8_t> singular;
};

template <typename Real>
void eliminate_blocks(const std::vector<EliminationBlock> & blocks, const Real * A, Real * b, std::int64_t n,
                      std::int64_t m, std::int64_t ld, std::int64_t rows, std::uint8_t * singular)
{
  thread_local EliminationWorkspace<Real> w;
  const auto s_rows = left_over(blocks, &EliminationBlock::rows, n);
  const auto s_columns = left_over(blocks, &EliminationBlock::columns, n);
  const auto s = std::int64_t(s_rows.size());
  const auto width = s + m; // of [A_ks | b_k]
  std::int64_t total = 0, largest = 0;
  for (const auto & block : blocks)
  {
    total += std::int64_t(block.rows.size());
    largest = std::max(largest, std::int64_t(block.rows.size()));
  }
  Real * diagonal = w.diagonal.reserve(std::max<std::int64_t>(largest * largest, 1) * ld);
  Real * coupling = w.coupling.reserve(std::max<std::int64_t>(s * largest, 1) * ld);
  Real * solutions = w.solutions.reserve(std::max<std::int64_t>(total * width, 1) * ld);
  Real * complement = w.complement.reserve(std::max<std::int64_t>(s * s, 1) * ld);
  Real * right = w.right.reserve(std::max<std::int64_t>(s * m, 1) * ld);
  w.singular.assign(rows, 0);
  std::fill_n(singular, rows, 0);
  const auto entry = [&](std::int64_t i, std::int64_t j) { return A + (i * n + j) * ld; };

  for (std::int64_t i = 0; i < s; i++)
  {
    for (std::int64_t j = 0; j < s; j++)
      std::copy_n(entry(s_rows[i], s_columns[j]), rows, complement + (i * s + j) * ld);
    for (std::int64_t j = 0; j < m; j++)
      std::copy_n(b + (s_rows[i] * m + j) * ld, rows, right + (i * m + j) * ld);
  }
  Real * Y = solutions;
  for (const auto & block : blocks)
  {
    const auto k = std::int64_t(block.rows.size());
    for (std::int64_t i = 0; i < k; i++)
    {
      for (std::int64_t j = 0; j < k; j++)
        std::copy_n(entry(block.rows[i], block.columns[j]), rows, diagonal + (i * k + j) * ld);
      for (std::int64_t j = 0; j < s; j++)
        std::copy_n(entry(block.rows[i], s_columns[j]), rows, Y + (i * width + j) * ld);
      for (std::int64_t j = 0; j < m; j++)
        std::copy_n(b + (block.rows[i] * m + j) * ld, rows, Y + (i * width + s + j) * ld);
    }
    for (std::int64_t i = 0; i < s; i++)
      for (std::int64_t j = 0; j < k; j++)
        std::copy_n(entry(s_rows[i], block.columns[j]), rows, coupling + (i * k + j) * ld);
    lu_solve(diagonal, Y, k, width, ld, rows, w.singular.data());
    for (std::int64_t i = 0; i < rows; i++)
      singular[i] |= w.singular[i];
    multiply_add<Real>({complement, s}, {coupling, k}, {Y, width}, Real(-1), s, k, s, ld, rows);
    multiply_add<Real>({right, m}, {coupling, k}, {Y + s * ld, width}, Real(-1), s, k, m, ld, rows);
    Y += k * width * ld;
  }
  lu_solve(complement, right, s, m, ld, rows, w.singular.data());
  for (std::int64_t i = 0; i < rows; i++)
    singular[i] |= w.singular[i];

  Y = solutions;
  for (const auto & block : blocks)
  {
    const auto k = std::int64_t(block.rows.size());
    multiply_add<Real>({Y + s * ld, width}, {Y, width}, {right, m}, Real(-1), k, s, m, ld, rows);
    for (std::int64_t i = 0; i < k; i++)
      for (std::int64_t j = 0; j < m; j++)
        std::copy_n(Y + (i * width + s + j) * ld, rows, b + (block.columns[i] * m + j) * ld);
    Y += k * width * ld;
  }
  for (std::int64_t i = 0; i < s; i++)
    for (std::int64_t j = 0; j < m; j++)
      std::copy_n(right + (i * m + j) * ld, rows, b + (s_columns[i] * m + j) * ld);
}
}

template <typename Real>
void direct_solve(const std::vector<EliminationBlock> & elimination, const Real * A, Real * b, std::int64_t n,
                  std::int64_t m, std::int64_t ld, std::int64_t rows, std::uint8_t * singular)
{
  if (elimination.empty())
    lu_solve(A, b, n, m, ld, rows, singular);
  else
    eliminate_blocks(elimination, A, b, n, m, ld, rows, singular);
}

std::int64_t direct_solve_scratch(const std::vector<EliminationBlock> & elimination, std::int64_t n, std::int64_t m)
{
  std::int64_t total = 0, largest = 0;
  for (const auto & block : elimination)
  {
    total += std::int64_t(block.rows.size());
    largest = std::max(largest, std::int64_t(block.rows.size()));
  }
  const auto s = n - total;
  const auto lu = [](std::int64_t size, std::int64_t columns) { return size * (size + columns); };
  if (elimination.empty())
    return lu(n, m);
  return largest * largest + s * largest + total * (s + m) + s * s + s * m + std::max(lu(largest, s + m), lu(s, m));
}

template void direct_solve<double>(const std::vector<EliminationBlock> &, const double *, double *, std::int64_t,
                                   std::int64_t, std::int64_t, std::int64_t, std::uint8_t *);
template void direct_solve<float>(const std::vector<EliminationBlock> &, const float *, float *, std::int64_t,
                                  std::int64_t, std::int64_t, std::int64_t, std::uint8_t *);
}
