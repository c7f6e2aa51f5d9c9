#include <cmath>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "matlaw/solve/BatchedLU.h"
#include "toy_law.h"

using namespace matlaw;

namespace
{
/// Solves public-layout systems, A (rows, n, n) and b (rows, n, m), by the batch-last solver.
std::pair<at::Tensor, std::vector<std::uint8_t>> solved(const at::Tensor & A, const at::Tensor & b)
{
  const auto rows = A.size(0), n = A.size(1), m = b.size(2);
  const auto a = A.permute({1, 2, 0}).contiguous();
  auto x = b.permute({1, 2, 0}).clone(at::MemoryFormat::Contiguous); // overwritten
  std::vector<std::uint8_t> singular(rows, 7);
  if (A.scalar_type() == at::kDouble)
    solve::lu_solve<double>(a.const_data_ptr<double>(), x.mutable_data_ptr<double>(), n, m, rows, rows,
                            singular.data());
  else
    solve::lu_solve<float>(a.const_data_ptr<float>(), x.mutable_data_ptr<float>(), n, m, rows, rows, singular.data());
  return {x.permute({2, 0, 1}).contiguous(), singular};
}

double relative_error(const at::Tensor & a, const at::Tensor & b)
{
  return ((a - b).abs().max() / b.abs().max()).to(at::kDouble).item<double>();
}
}

class BatchedLU : public ::testing::TestWithParam<int>
{
};

TEST_P(BatchedLU, agrees_with_linalg_solve_and_leaves_the_matrix)
{
  const auto n = GetParam();
  at::manual_seed(n);
  const auto A = at::randn({24, n, n}, at::kDouble) + at::eye(n, at::kDouble) * 0.1;
  const auto b = at::randn({24, n, 3}, at::kDouble);
  const auto [x, singular] = solved(A, b);
  EXPECT_LT(relative_error(x, at::linalg_solve(A, b)), 1e-9);
  EXPECT_LT((at::matmul(A, x) - b).abs().max().item<double>(), 1e-10);
  for (const auto flag : singular)
    EXPECT_EQ(flag, 0);
  const auto [x_single, unused] = solved(A.to(at::kFloat), b.to(at::kFloat));
  EXPECT_LT((at::matmul(A.to(at::kFloat), x_single) - b.to(at::kFloat)).abs().max().item<double>(), 5e-3);
}

TEST_P(BatchedLU, pivots_each_row_its_own_way)
{
  const auto n = GetParam();
  // Permutation matrices, another one in each lane: every leading entry may be zero.
  auto A = at::zeros({16, n, n}, at::kDouble);
  for (int row = 0; row < 16; row++)
    for (int i = 0; i < n; i++)
      A[row][i][(i * (n > 1 ? (n - 1) : 1) + row) % n] = 1.0 + row;
  const auto b = at::randn({16, n, 1}, at::kDouble);
  const auto [x, singular] = solved(A, b);
  EXPECT_LT(relative_error(x, at::linalg_solve(A, b)), 1e-14);
  for (const auto flag : singular)
    EXPECT_EQ(flag, 0);
}

TEST_P(BatchedLU, marks_singular_rows_only_and_keeps_the_others_bits)
{
  const auto n = GetParam();
  at::manual_seed(100 + n);
  auto A = at::randn({16, n, n}, at::kDouble) + 2.0 * at::eye(n, at::kDouble);
  const auto b = at::randn({16, n, 2}, at::kDouble);
  const auto [expected, unused] = solved(A, b);
  A[3].zero_();
  A[9].select(1, n - 1).fill_(NAN);
  A[12].select(0, 0).zero_();
  const auto [x, singular] = solved(A, b);
  for (int row = 0; row < 16; row++)
  {
    const bool bad = row == 3 || row == 9 || row == 12;
    EXPECT_EQ(singular[row], bad) << "row " << row;
    EXPECT_TRUE(bad || toy::same_bits(x[row], expected[row])) << "row " << row;
  }
}

TEST_P(BatchedLU, row_does_not_depend_on_its_lane)
{
  const auto n = GetParam();
  at::manual_seed(200 + n);
  const auto A = at::randn({32, n, n}, at::kDouble);
  const auto b = at::randn({32, n, 2}, at::kDouble);
  const auto order = at::randperm(32, at::kLong);
  const auto [x, s1] = solved(A, b);
  const auto [y, s2] = solved(A.index_select(0, order), b.index_select(0, order));
  EXPECT_TRUE(toy::same_bits(x.index_select(0, order), y));
}

INSTANTIATE_TEST_SUITE_P(sizes, BatchedLU, ::testing::Range(1, 31));
