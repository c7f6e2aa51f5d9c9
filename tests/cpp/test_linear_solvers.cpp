#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <ostream>
#include <random>

#include <gtest/gtest.h>

#include "matlaw/errors.h"
#include "matlaw/solve/BatchedLU.h"
#include "solve/assembled_krylov.h"
#include "solve/direct_solve.h"

using namespace matlaw;

namespace
{
/// Random systems, one per row of the batch, diagonally not dominant; rows up to a whole number of blocks.
template <typename Real>
struct Systems
{
  Systems(std::int64_t n, std::int64_t m, std::int64_t rows, unsigned seed = 1) : n(n), m(m), ld((rows + 7) / 8 * 8)
  {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> entry(-1.0, 1.0);
    A.resize(n * n * ld);
    b.resize(n * m * ld);
    for (std::int64_t r = 0; r < ld; r++)
    {
      for (std::int64_t k = 0; k < n * n; k++)
        A[k * ld + r] = Real(entry(random) + (k % (n + 1) == 0 ? 1.5 : 0.0));
      for (std::int64_t k = 0; k < n * m; k++)
        b[k * ld + r] = Real(entry(random));
    }
  }

  Real & a(std::int64_t i, std::int64_t j, std::int64_t r) { return A[(i * n + j) * ld + r]; }

  /// The largest |A x - b| of a row relative to its |b|.
  double error(const std::vector<Real> & x, std::int64_t r) const
  {
    double worst = 0.0, size = 0.0;
    for (std::int64_t i = 0; i < n; i++)
      for (std::int64_t k = 0; k < m; k++)
      {
        double sum = -double(b[(i * m + k) * ld + r]);
        for (std::int64_t j = 0; j < n; j++)
          sum += double(A[(i * n + j) * ld + r]) * double(x[(j * m + k) * ld + r]);
        worst = std::max(worst, std::abs(sum));
        size = std::max(size, std::abs(double(b[(i * m + k) * ld + r])));
      }
    return worst / size;
  }

  /// The same systems in another order of rows.
  Systems permuted(const std::vector<std::int64_t> & order) const
  {
    Systems other = *this;
    for (std::int64_t k = 0; k < n * n; k++)
      for (std::int64_t r = 0; r < ld; r++)
        other.A[k * ld + r] = A[k * ld + order[r]];
    for (std::int64_t k = 0; k < n * m; k++)
      for (std::int64_t r = 0; r < ld; r++)
        other.b[k * ld + r] = b[k * ld + order[r]];
    return other;
  }

  std::int64_t n, m, ld;
  std::vector<Real> A, b;
};

template <typename Real>
std::pair<std::vector<Real>, std::vector<std::uint8_t>>
iterate(const Systems<Real> & systems, const solve::KrylovConfig & config,
        const std::vector<solve::DiagonalBlock> & preconditioner = {})
{
  auto x = systems.b;
  std::vector<std::uint8_t> failed(systems.ld, 2);
  solve::assembled_krylov<Real>(preconditioner, config, systems.A.data(), x.data(), systems.n, systems.m, systems.ld,
                                systems.ld, failed.data());
  return {x, failed};
}

struct Case
{
  solve::KrylovMethod method;
  std::vector<solve::DiagonalBlock> preconditioner;
};

/// The name of a test; without it GoogleTest prints bytes, addresses among them.
void PrintTo(const Case & c, std::ostream * out)
{
  *out << (c.method == solve::KrylovMethod::GMRES ? "GMRES" : "BiCGStab") << "_with_" << c.preconditioner.size()
       << "_blocks";
}

class Krylov : public testing::TestWithParam<Case>
{
};

std::vector<solve::DiagonalBlock> points(std::int64_t n)
{
  std::vector<solve::DiagonalBlock> blocks;
  for (std::int64_t k = 0; k < n; k++)
    blocks.push_back({k, 1});
  return blocks;
}

INSTANTIATE_TEST_SUITE_P(
    methods, Krylov,
    testing::Values(Case{solve::KrylovMethod::GMRES, {}}, Case{solve::KrylovMethod::GMRES, points(9)},
                    Case{solve::KrylovMethod::GMRES, {{0, 4}, {4, 5}}}, Case{solve::KrylovMethod::GMRES, {{0, 9}}},
                    Case{solve::KrylovMethod::BICGSTAB, {}}, Case{solve::KrylovMethod::BICGSTAB, points(9)},
                    Case{solve::KrylovMethod::BICGSTAB, {{0, 4}, {4, 5}}},
                    Case{solve::KrylovMethod::BICGSTAB, {{0, 9}}}));
}

TEST_P(Krylov, solves_to_its_tolerance)
{
  const Systems<double> systems(9, 3, 40);
  for (const double tolerance : {1e-3, 1e-11})
  {
    const auto [x, failed] = iterate(systems, {.method = GetParam().method, .max_its = 5000, .rel_tol = tolerance},
                                     GetParam().preconditioner);
    for (std::int64_t r = 0; r < systems.ld; r++)
    {
      EXPECT_EQ(failed[r], 0) << r;
      EXPECT_LE(systems.error(x, r), 10 * tolerance) << r;
    }
  }
}

TEST_P(Krylov, solves_in_single_precision)
{
  const Systems<float> systems(9, 1, 16);
  const auto [x, failed] =
      iterate(systems, {.method = GetParam().method, .max_its = 5000, .rel_tol = 1e-5}, GetParam().preconditioner);
  for (std::int64_t r = 0; r < systems.ld; r++)
  {
    EXPECT_EQ(failed[r], 0) << r;
    EXPECT_LE(systems.error(x, r), 1e-3) << r;
  }
}

TEST_P(Krylov, a_row_has_the_same_bits_in_any_order)
{
  const Systems<double> systems(9, 2, 40);
  const solve::KrylovConfig config{.method = GetParam().method, .max_its = 5000, .rel_tol = 1e-9};
  const auto [x, failed] = iterate(systems, config, GetParam().preconditioner);
  std::vector<std::int64_t> order(systems.ld);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(3));
  const auto [y, failed_too] = iterate(systems.permuted(order), config, GetParam().preconditioner);
  for (std::int64_t r = 0; r < systems.ld; r++)
    for (std::int64_t k = 0; k < systems.n * systems.m; k++)
      EXPECT_EQ(y[k * systems.ld + r], x[k * systems.ld + order[r]]);
}

TEST_P(Krylov, rows_without_a_solution_fail_alone)
{
  Systems<double> systems(9, 1, 16);
  const auto expected = iterate(systems, {.method = GetParam().method, .max_its = 5000}, GetParam().preconditioner);
  for (std::int64_t j = 0; j < 9; j++)
  {
    systems.a(4, j, 3) = 0.0; // a row of zeros
    systems.a(2, j, 7) = std::numeric_limits<double>::quiet_NaN();
    for (std::int64_t i = 0; i < 9; i++)
      systems.a(i, j, 11) = 0.0;
  }
  const auto [x, failed] = iterate(systems, {.method = GetParam().method, .max_its = 5000}, GetParam().preconditioner);
  for (std::int64_t r = 0; r < systems.ld; r++)
  {
    EXPECT_EQ(failed[r], r == 3 || r == 7 || r == 11) << r;
    for (std::int64_t k = 0; k < 9 && !failed[r]; k++)
      EXPECT_EQ(x[k * systems.ld + r], expected.first[k * systems.ld + r]);
  }
}

TEST(Krylov, fails_when_its_iterations_are_used_up)
{
  const Systems<double> systems(9, 1, 8);
  for (const auto method : {solve::KrylovMethod::GMRES, solve::KrylovMethod::BICGSTAB})
  {
    const auto [x, failed] = iterate(systems, {.method = method, .max_its = 2, .rel_tol = 1e-12});
    EXPECT_EQ(std::count(failed.begin(), failed.end(), 1), 8);
  }
}

TEST(Krylov, restarts)
{
  const Systems<double> systems(9, 1, 16);
  const auto [x, failed] = iterate(systems, {.restart = 6, .max_its = 20000, .rel_tol = 1e-9});
  for (std::int64_t r = 0; r < systems.ld; r++)
  {
    // A short basis may stand still for good; where it does not, the solution is one.
    if (!failed[r])
    {
      EXPECT_LE(systems.error(x, r), 1e-8) << r;
    }
  }
  EXPECT_GT(std::count(failed.begin(), failed.end(), 0), 8);
}

TEST(Krylov, no_right_hand_side_needs_no_iteration)
{
  Systems<double> systems(9, 1, 8);
  std::fill(systems.b.begin(), systems.b.end(), 0.0);
  const auto [x, failed] = iterate(systems, {.max_its = 1});
  EXPECT_EQ(std::count(failed.begin(), failed.end(), 0), 8);
  EXPECT_EQ(*std::max_element(x.begin(), x.end()), 0.0);
}

TEST(Krylov, settings_out_of_range_are_refused)
{
  EXPECT_THROW(solve::check(solve::KrylovConfig{.restart = 0}), FatalError);
  EXPECT_THROW(solve::check(solve::KrylovConfig{.max_its = 0}), FatalError);
  EXPECT_THROW(solve::check(solve::KrylovConfig{.rel_tol = 1.0}), FatalError);
  EXPECT_THROW(solve::check(solve::KrylovConfig{.rel_tol = 0.0}), FatalError);
  EXPECT_NO_THROW(solve::check(solve::KrylovConfig{.abs_tol = 1e-8, .rel_tol = 0.0}));
  EXPECT_THROW(solve::krylov_method_from_text("GMRES"), FatalError);
  EXPECT_THROW(solve::preconditioner_cache_from_text("always"), FatalError);
}

namespace
{
/// Two uncoupled blocks of 3 and 2, in rows and columns that interleave, and 4 more unknowns.
const std::vector<solve::EliminationBlock> two_blocks = {{{0, 2, 5}, {1, 2, 6}}, {{3, 7}, {0, 4}}};

Systems<double> with_two_blocks()
{
  Systems<double> systems(9, 2, 24);
  for (std::int64_t r = 0; r < systems.ld; r++)
    for (const auto & [rows, others] :
         {std::pair(two_blocks[0].rows, two_blocks[1].columns), std::pair(two_blocks[1].rows, two_blocks[0].columns)})
      for (const auto i : rows)
        for (const auto j : others)
          systems.a(i, j, r) = 0.0;
  return systems;
}
}

TEST(BlockElimination, gives_the_solution_of_the_dense_system)
{
  const auto systems = with_two_blocks();
  auto x = systems.b;
  std::vector<std::uint8_t> singular(systems.ld, 2);
  solve::direct_solve<double>(two_blocks, systems.A.data(), x.data(), 9, 2, systems.ld, systems.ld, singular.data());
  for (std::int64_t r = 0; r < systems.ld; r++)
  {
    EXPECT_EQ(singular[r], 0);
    EXPECT_LE(systems.error(x, r), 1e-11) << r;
  }
}

TEST(BlockElimination, a_singular_block_or_complement_is_a_verdict_of_its_row)
{
  auto systems = with_two_blocks();
  for (const auto j : two_blocks[1].columns)
    systems.a(3, j, 5) = 0.0; // the second block of row 5 is singular
  for (std::int64_t j = 0; j < 9; j++)
    systems.a(8, j, 9) = 0.0; // the complement of row 9 has a row of zeros
  auto x = systems.b;
  std::vector<std::uint8_t> singular(systems.ld, 2);
  solve::direct_solve<double>(two_blocks, systems.A.data(), x.data(), 9, 2, systems.ld, systems.ld, singular.data());
  for (std::int64_t r = 0; r < systems.ld; r++)
  {
    EXPECT_EQ(singular[r], r == 5 || r == 9) << r;
    if (!singular[r])
    {
      EXPECT_LE(systems.error(x, r), 1e-11) << r;
    }
  }
}
