#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "matlaw/solve/Newton.h"
#include "matlaw/solve/step_factor.h"

using namespace matlaw;

namespace
{
/// x^2 = a, x y = a for each row: no solution for a < 0. Counts what the solver asks for.
template <typename Real>
class SquareRoots final : public solve::NonlinearSystem<Real>
{
public:
  explicit SquareRoots(std::vector<Real> a) : _a(std::move(a)) {}
  std::int64_t size() const override { return 2; }
  void keep(const std::vector<std::int32_t> & positions) override
  {
    std::vector<Real> kept;
    for (std::size_t i = 0; i < positions.size(); i++)
    {
      EXPECT_TRUE(i == 0 || positions[i] > positions[i - 1]);
      kept.push_back(_a.at(positions[i]));
    }
    _a = kept;
    shrinks++;
  }
  void residual(const Real * u, Real * b, std::int64_t ld, std::int64_t rows) override
  {
    EXPECT_EQ(rows, std::int64_t(_a.size()));
    EXPECT_EQ(ld, (rows + 7) / 8 * 8);
    for (std::int64_t i = 0; i < rows; i++)
    {
      b[i] = _a[i] - u[i] * u[i];
      b[ld + i] = _a[i] - u[i] * u[ld + i];
    }
  }
  void jacobian(const Real * u, Real * A, Real * b, std::int64_t ld, std::int64_t rows) override
  {
    residual(u, b, ld, rows);
    for (std::int64_t i = 0; i < rows; i++)
    {
      A[i] = 2 * u[i];
      A[ld + i] = 0;
      A[2 * ld + i] = u[ld + i];
      A[3 * ld + i] = u[i];
    }
    rows_seen.push_back(rows);
  }
  int shrinks = 0;
  std::vector<std::int64_t> rows_seen;

private:
  std::vector<Real> _a;
};

template <typename Real>
std::pair<std::vector<Real>, std::vector<solve::RowVerdict>> run(const std::vector<Real> & a, Real start,
                                                                 const solve::NewtonConfig & config)
{
  const auto rows = std::int64_t(a.size());
  const auto ld = (rows + 7) / 8 * 8 + 16; // wider than needed: the caller's business
  std::vector<Real> u(2 * ld, start);
  std::vector<solve::RowVerdict> verdicts(rows);
  SquareRoots<Real> system(a);
  solve::newton<Real>(system, u.data(), ld, rows, config, verdicts.data());
  std::vector<Real> x(u.begin(), u.begin() + rows);
  return {x, verdicts};
}
}

TEST(Newton, solves_every_row_and_counts_iterations_per_row)
{
  std::vector<double> a;
  for (int i = 0; i < 43; i++)
    a.push_back(i == 5 ? 1.0 : 1.0 + i * i);
  const auto [x, verdicts] = run<double>(a, 1.0, {.atol = 1e-12, .rtol = 1e-14, .miters = 30});
  for (int i = 0; i < 43; i++)
  {
    EXPECT_EQ(verdicts[i].status, Status::CONVERGED);
    EXPECT_NEAR(x[i], std::sqrt(a[i]), 1e-10) << i;
  }
  EXPECT_EQ(verdicts[5].iterations, 0);
  EXPECT_EQ(verdicts[5].initial_residual, 0.0);
  EXPECT_GT(verdicts[42].iterations, verdicts[1].iterations);
}

TEST(Newton, impossible_rows_fail_alone)
{
  std::vector<double> a(64);
  for (int i = 0; i < 64; i++)
    a[i] = 1.0 + i;
  const solve::NewtonConfig config{.atol = 1e-12, .rtol = 1e-14, .miters = 30};
  const auto [expected, all] = run<double>(a, 1.5, config);
  auto b = a;
  b[7] = -3.0;
  b[40] = std::numeric_limits<double>::quiet_NaN();
  const auto [x, verdicts] = run<double>(b, 1.5, config);
  for (int i = 0; i < 64; i++)
    if (i == 7 || i == 40)
      EXPECT_EQ(verdicts[i].status, Status::NOT_CONVERGED);
    else
    {
      EXPECT_EQ(verdicts[i].status, Status::CONVERGED);
      EXPECT_EQ(verdicts[i].iterations, all[i].iterations);
      EXPECT_EQ(x[i], expected[i]) << "bits of row " << i;
    }
  EXPECT_EQ(verdicts[7].iterations, 30);
  EXPECT_EQ(verdicts[40].iterations, 0) << "a residual that is not finite fails at once";
}

TEST(Newton, singular_row_fails_without_throwing)
{
  // Starting from zero the Jacobian is zero.
  const auto [x, verdicts] = run<double>({1.0, 4.0}, 0.0, {});
  EXPECT_EQ(verdicts[0].status, Status::NOT_CONVERGED);
  EXPECT_EQ(verdicts[1].status, Status::NOT_CONVERGED);
  EXPECT_EQ(verdicts[0].iterations, 0);
  EXPECT_LT(solve::step_factor(verdicts[0], 25), 0.5);
}

TEST(Newton, working_set_shrinks_as_rows_leave)
{
  std::vector<double> a(80, 4.0);
  for (int i = 0; i < 5; i++)
    a[16 * i] = 1e6;
  SquareRoots<double> system(a);
  std::vector<double> u(160, 2.5);
  std::vector<solve::RowVerdict> verdicts(80);
  solve::newton<double>(system, u.data(), 80, 80, {}, verdicts.data());
  EXPECT_GE(system.shrinks, 1);
  EXPECT_EQ(system.rows_seen.front(), 80);
  EXPECT_EQ(system.rows_seen.back(), 5);
  for (int i = 0; i < 80; i++)
    EXPECT_NEAR(u[i], std::sqrt(a[i]), 1e-5);
}

TEST(Newton, position_in_the_batch_changes_no_bit)
{
  std::vector<double> a(29);
  for (int i = 0; i < 29; i++)
    a[i] = 0.5 + 1.3 * i;
  const solve::NewtonConfig config{.atol = 1e-9, .rtol = 1e-9, .miters = 50};
  const auto [x, verdicts] = run<double>(a, 1.1, config);
  for (int i = 0; i < 29; i++)
  {
    const auto [alone, verdict] = run<double>({a[i]}, 1.1, config);
    EXPECT_EQ(alone[0], x[i]);
    EXPECT_EQ(verdict[0].iterations, verdicts[i].iterations);
    EXPECT_EQ(verdict[0].final_residual, verdicts[i].final_residual);
  }
}

TEST(Newton, float_and_no_rows)
{
  const auto [x, verdicts] = run<float>({2.0f, 9.0f}, 1.0f, {.atol = 1e-5, .rtol = 1e-6, .miters = 20});
  EXPECT_NEAR(x[0], std::sqrt(2.0f), 1e-4);
  EXPECT_NEAR(x[1], 3.0f, 1e-4);
  const auto [none, no_verdicts] = run<double>({}, 1.0, {});
  EXPECT_TRUE(none.empty());
}

TEST(StepFactor, falls_with_iterations_and_is_a_half_or_less_for_failures)
{
  const auto factor = [](Status status, std::int32_t iterations, double last = 0.0)
  {
    return solve::step_factor(
        {.status = status, .iterations = iterations, .initial_residual = 1.0, .final_residual = last}, 24);
  };
  EXPECT_EQ(factor(Status::CONVERGED, 0), 1.0);
  EXPECT_EQ(factor(Status::CONVERGED, 18), 1.0);
  EXPECT_EQ(factor(Status::CONVERGED, 21), 0.75);
  EXPECT_EQ(factor(Status::CONVERGED, 24), 0.5);
  EXPECT_EQ(factor(Status::NOT_CONVERGED, 24, 1e-8), 0.5) << "on its way";
  EXPECT_EQ(factor(Status::NOT_CONVERGED, 24, 1e-6), 0.25) << "slower than by halves";
  EXPECT_EQ(factor(Status::NOT_CONVERGED, 3), 0.25);
  EXPECT_EQ(factor(Status::BAD_INPUT, 0), 0.5);
}
