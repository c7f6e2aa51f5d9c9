// Newton solves of systems that solve for their steps themselves: what happens to rows that they cannot solve for.
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "matlaw/solve/Newton.h"

using namespace matlaw;

namespace
{
/// x^2 = a for each row. Its own steps are unsound in the rows that `bad` names, and short by a factor in all.
class OwnSteps final : public solve::NonlinearSystem<double>
{
public:
  explicit OwnSteps(std::vector<double> a) : _a(std::move(a)), _bad(_a.size(), 0) {}

  std::int64_t size() const override { return 1; }
  void keep(const std::vector<std::int32_t> & positions) override
  {
    std::vector<double> a;
    std::vector<std::uint8_t> bad;
    for (const auto p : positions)
    {
      a.push_back(_a.at(p));
      bad.push_back(_bad.at(p));
    }
    _a = a;
    _bad = bad;
  }
  void residual(const double * u, double * b, std::int64_t, std::int64_t rows) override
  {
    for (std::int64_t i = 0; i < rows; i++)
      b[i] = _a[i] - u[i] * u[i];
  }
  void jacobian(const double * u, double * A, double * b, std::int64_t ld, std::int64_t rows) override
  {
    residual(u, b, ld, rows);
    for (std::int64_t i = 0; i < rows; i++)
      A[i] = 2 * u[i];
    matrices++;
  }
  bool has_step() const override { return true; }
  void step(const double * u, double * du, double * b, double * sound, std::int64_t ld, std::int64_t rows) override
  {
    residual(u, b, ld, rows);
    for (std::int64_t i = 0; i < rows; i++)
    {
      du[i] = _bad[i] ? std::numeric_limits<double>::quiet_NaN() : length * b[i] / (2 * u[i]);
      sound[i] = _bad[i] ? 0.0 : 1.0;
    }
    steps++;
  }
  void spoil(std::size_t row) { _bad.at(row) = 1; }

  double length = 1.0;
  int matrices = 0, steps = 0;

private:
  std::vector<double> _a;
  std::vector<std::uint8_t> _bad;
};

struct Solved
{
  std::vector<double> u;
  std::vector<solve::RowVerdict> verdicts;
};

Solved solve_from_one(OwnSteps & system, std::int64_t rows, const solve::NewtonConfig & config)
{
  Solved found{std::vector<double>((rows + 7) / 8 * 8, 1.0), std::vector<solve::RowVerdict>(rows)};
  solve::newton<double>(system, found.u.data(), std::int64_t(found.u.size()), rows, config, found.verdicts.data());
  return found;
}

const solve::NewtonConfig config{.atol = 1e-12, .rtol = 0.0, .miters = 30};
}

TEST(NewtonOwnSteps, no_matrix_is_formed)
{
  std::vector<double> a;
  for (int i = 0; i < 21; i++)
    a.push_back(2.0 + i);
  OwnSteps system(a);
  const auto found = solve_from_one(system, 21, config);
  for (int i = 0; i < 21; i++)
  {
    EXPECT_EQ(found.verdicts[i].status, Status::CONVERGED);
    EXPECT_NEAR(found.u[i], std::sqrt(a[i]), 1e-12);
  }
  EXPECT_EQ(system.matrices, 0);
  EXPECT_GT(system.steps, 3);
}

TEST(NewtonOwnSteps, rows_that_are_not_sound_are_solved_with_pivoting_and_change_no_other)
{
  const std::vector<double> a{2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31};
  OwnSteps sound(a), mixed(a);
  mixed.spoil(4);
  mixed.spoil(9);
  const auto expected = solve_from_one(sound, 11, config);
  const auto found = solve_from_one(mixed, 11, config);
  for (int i = 0; i < 11; i++)
  {
    EXPECT_EQ(found.verdicts[i].status, Status::CONVERGED);
    EXPECT_EQ(found.verdicts[i].iterations, expected.verdicts[i].iterations);
    if (i == 4 || i == 9)
      EXPECT_NEAR(found.u[i], expected.u[i], 1e-14);
    else
      EXPECT_EQ(found.u[i], expected.u[i]);
  }
  EXPECT_GT(mixed.matrices, 0);
}

TEST(NewtonOwnSteps, singular_rows_among_those_that_are_not_sound_fail)
{
  OwnSteps system({0.25, 4.0});
  system.spoil(0);
  Solved found{std::vector<double>(8, 0.0), std::vector<solve::RowVerdict>(2)};
  found.u[1] = 1.0; // row 0 starts where its derivative is zero
  solve::newton<double>(system, found.u.data(), 8, 2, config, found.verdicts.data());
  EXPECT_EQ(found.verdicts[0].reason, Reason::SINGULAR_JACOBIAN);
  EXPECT_EQ(found.verdicts[1].status, Status::CONVERGED);
}

TEST(NewtonOwnSteps, rows_that_own_steps_get_nowhere_are_solved_with_pivoting)
{
  // With a third of each step the residual never halves: thirty iterations would not do.
  OwnSteps system({2.0, 3.0});
  system.length = 1.0 / 3.0;
  const auto found = solve_from_one(system, 2, config);
  for (int i = 0; i < 2; i++)
  {
    EXPECT_EQ(found.verdicts[i].status, Status::CONVERGED);
    EXPECT_LE(found.verdicts[i].iterations, 12);
  }
  EXPECT_GT(system.matrices, 0);
}

TEST(NewtonOwnSteps, steps_of_a_strong_wolfe_search_come_from_the_matrix)
{
  OwnSteps system({2.0});
  auto wolfe = config;
  wolfe.ls_type = solve::LineSearch::STRONG_WOLFE;
  EXPECT_EQ(solve_from_one(system, 1, wolfe).verdicts[0].status, Status::CONVERGED);
  EXPECT_EQ(system.steps, 0);
}

TEST(NewtonOwnSteps, backtracking_shortens_them)
{
  OwnSteps system({1e-4});
  auto backtracking = config;
  backtracking.ls_type = solve::LineSearch::BACKTRACKING;
  const auto found = solve_from_one(system, 1, backtracking);
  EXPECT_NEAR(found.u[0], 1e-2, 1e-9);
  EXPECT_EQ(system.matrices, 0);
}
