// Direct linear solves of many rows at once, dense or by block elimination.
#pragma once

#include <cstdint>
#include <vector>

#include "matlaw/solve/LinearStructure.h"

namespace matlaw::solve
{
/// Solves A x = b for every row; arguments and verdicts as in lu_solve.
///
/// Without elimination blocks A is one dense matrix. With them, x_k = A_kk^{-1} (b_k - A_ks x_s) for each block k, and
/// (A_ss - sum_k A_sk A_kk^{-1} A_ks) x_s = b_s - sum_k A_sk A_kk^{-1} b_k for what is left, the Schur complement; a
/// row is singular when one of its blocks is, or the complement. Source: F. Zhang (ed.), The Schur Complement and Its
/// Applications, chapter 0
template <typename Real>
void direct_solve(const std::vector<EliminationBlock> & elimination, const Real * A, Real * b, std::int64_t n,
                  std::int64_t m, std::int64_t ld, std::int64_t rows, std::uint8_t * singular);

/// Numbers that a row takes in the arrays of direct_solve, at most.
std::int64_t direct_solve_scratch(const std::vector<EliminationBlock> & elimination, std::int64_t n, std::int64_t m);
}
