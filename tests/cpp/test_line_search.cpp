// Rows for which plain Newton diverges, and the settings at run time.
#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

#include "matlaw/solve/Newton.h"
#include "toy_law.h"

using namespace matlaw;
using namespace matlaw::toy;
using solve::LineSearch;

namespace
{
/// atan(u) = a, u v = 1: Newton's steps for u grow without bound from |u| > 1.39 when a = 0.
class Arctangents final : public solve::NonlinearSystem<double>
{
public:
  explicit Arctangents(std::vector<double> a) : _a(std::move(a)) {}
  std::int64_t size() const override { return 2; }
  void keep(const std::vector<std::int32_t> & positions) override
  {
    std::vector<double> kept;
    for (const auto position : positions)
      kept.push_back(_a.at(position));
    _a = kept;
  }
  void residual(const double * u, double * b, std::int64_t ld, std::int64_t rows) override
  {
    for (std::int64_t i = 0; i < rows; i++)
    {
      b[i] = _a[i] - std::atan(u[i]);
      b[ld + i] = 1.0 - (2.0 + std::sin(u[i])) * u[ld + i];
    }
  }
  void jacobian(const double * u, double * A, double * b, std::int64_t ld, std::int64_t rows) override
  {
    residual(u, b, ld, rows);
    for (std::int64_t i = 0; i < rows; i++)
    {
      A[i] = 1.0 / (1.0 + u[i] * u[i]);
      A[ld + i] = 0.0;
      A[2 * ld + i] = std::cos(u[i]) * u[ld + i];
      A[3 * ld + i] = 2.0 + std::sin(u[i]);
    }
  }

private:
  std::vector<double> _a;
};

struct Solution
{
  std::vector<double> u, v;
  std::vector<solve::RowVerdict> verdicts;
};

Solution solve_rows(const std::vector<double> & a, const std::vector<double> & start,
                    const solve::NewtonConfig & config)
{
  const auto rows = std::int64_t(a.size());
  const auto ld = (rows + 7) / 8 * 8;
  std::vector<double> u(2 * ld, 0.0);
  std::copy(start.begin(), start.end(), u.begin());
  Solution found;
  found.verdicts.resize(rows);
  Arctangents system(a);
  solve::newton<double>(system, u.data(), ld, rows, config, found.verdicts.data());
  found.u.assign(u.begin(), u.begin() + rows);
  found.v.assign(u.begin() + ld, u.begin() + ld + rows);
  return found;
}

Solution solve_rows(const std::vector<double> & a, const std::vector<double> & start, LineSearch line_search)
{
  return solve_rows(a, start, solve::NewtonConfig{.miters = 60, .ls_type = line_search});
}

const std::vector<double> targets = {0.0, 0.5, 0.0, -1.0, 0.2, 0.0, 1.2, 0.0, -0.3, 0.9, 0.0};
const std::vector<double> starts = {3.0, 0.4, -4.0, 10.0, 0.2, 1.5, 0.0, 0.5, -6.0, 7.0, 20.0};
}

TEST(LineSearch, rows_converge_for_which_newton_diverges)
{
  const auto plain = solve_rows(targets, starts, LineSearch::NONE);
  for (const std::size_t row : {0, 2, 3, 8})
    EXPECT_EQ(plain.verdicts[row].status, Status::NOT_CONVERGED) << row;
  for (const auto line_search : {LineSearch::BACKTRACKING, LineSearch::STRONG_WOLFE})
  {
    const auto found = solve_rows(targets, starts, line_search);
    // From 20 a descent may end in a local minimum of |r|: that row is for the bits only.
    for (std::size_t row = 0; row < 10; row++)
    {
      EXPECT_EQ(found.verdicts[row].status, Status::CONVERGED) << line_search_text(line_search) << " " << row;
      EXPECT_NEAR(found.u[row], std::tan(targets[row]), 1e-6);
      EXPECT_NEAR(found.v[row], 1.0 / (2.0 + std::sin(std::tan(targets[row]))), 1e-6);
    }
  }
}

TEST(LineSearch, leaves_rows_alone_that_full_steps_solve)
{
  const auto plain = solve_rows({0.5, 0.2}, {0.4, 0.2}, LineSearch::NONE);
  const auto found = solve_rows({0.5, 0.2}, {0.4, 0.2}, LineSearch::BACKTRACKING);
  for (std::size_t row = 0; row < 2; row++)
  {
    EXPECT_EQ(found.verdicts[row].iterations, plain.verdicts[row].iterations);
    EXPECT_NEAR(found.u[row], plain.u[row], 1e-15);
  }
}

TEST(LineSearch, counts_the_residual_at_its_start)
{
  // From 3 neither the full step, -10 atan(3), nor one half of it decreases the residual to a fifth.
  const auto first_step = [](std::int64_t most)
  {
    const solve::NewtonConfig config{
        .miters = 1, .ls_type = LineSearch::BACKTRACKING, .ls_max_iters = most, .ls_c = 0.48};
    return solve_rows({0.0}, {3.0}, config).u[0] - 3.0;
  };
  const double full = -10.0 * std::atan(3.0);
  EXPECT_NEAR(first_step(1), full, 1e-12);
  EXPECT_NEAR(first_step(2), full, 1e-12);
  EXPECT_NEAR(first_step(3), full / 2, 1e-12);
}

TEST(LineSearch, a_row_has_the_same_bits_alone)
{
  for (const auto line_search : {LineSearch::BACKTRACKING, LineSearch::STRONG_WOLFE})
  {
    const auto together = solve_rows(targets, starts, line_search);
    for (std::size_t row = 0; row < targets.size(); row++)
    {
      const auto alone = solve_rows({targets[row]}, {starts[row]}, line_search);
      EXPECT_EQ(alone.verdicts[0].iterations, together.verdicts[row].iterations);
      EXPECT_EQ(std::memcmp(alone.u.data(), &together.u[row], sizeof(double)), 0) << row;
      EXPECT_EQ(std::memcmp(alone.v.data(), &together.v[row], sizeof(double)), 0) << row;
    }
  }
}

TEST(LineSearch, names)
{
  for (const auto line_search : {LineSearch::NONE, LineSearch::BACKTRACKING, LineSearch::STRONG_WOLFE})
    EXPECT_EQ(solve::line_search_from_text(line_search_text(line_search)), line_search);
  EXPECT_PRED_FORMAT2(mentions, fatal_error([] { solve::line_search_from_text("wolfe"); }),
                      (Words{"'wolfe'", "STRONG_WOLFE"}));
}

TEST(SolverConfig, is_that_of_the_artifact_until_it_is_set)
{
  const ToyLaw law;
  const auto model = law.load();
  auto config = model->solver_config();
  EXPECT_EQ(config.atol, 1e-12);
  EXPECT_EQ(config.miters, 30);
  EXPECT_EQ(config.ls_type, LineSearch::NONE);
  const auto inputs = toy_inputs(20);
  const auto reference = model->evaluate(inputs);
  EXPECT_TRUE(reference.ok());
  config.miters = 1;
  model->set_solver_config(config);
  EXPECT_FALSE(model->evaluate(inputs).ok());
  config = {.atol = 1e-12, .rtol = 1e-12, .miters = 30, .ls_type = LineSearch::STRONG_WOLFE};
  model->set_solver_config(config);
  const auto searched = model->evaluate(inputs, {.jacobian = true});
  EXPECT_TRUE(searched.ok());
  for (const auto & [name, value] : reference.outputs)
    EXPECT_TRUE(searched.outputs.at(name).allclose(value, 1e-9, 1e-9)) << name;
  EXPECT_EQ(law.load()->solver_config().miters, 30) << "other handles keep theirs";
}

TEST(SolverConfig, is_checked)
{
  const ToyLaw law;
  const auto model = law.load();
  const auto refused = [&](const auto & change)
  {
    auto config = model->solver_config();
    change(config);
    return fatal_error([&] { model->set_solver_config(config); });
  };
  EXPECT_PRED_FORMAT2(mentions, refused([](auto & c) { c.atol = -1; }), (Words{"atol"}));
  EXPECT_PRED_FORMAT2(mentions, refused([](auto & c) { c.rtol = NAN; }), (Words{"rtol"}));
  EXPECT_PRED_FORMAT2(mentions, refused([](auto & c) { c.miters = -1; }), (Words{"miters"}));
  EXPECT_PRED_FORMAT2(mentions, refused([](auto & c) { c.ls_max_iters = 0; }), (Words{"ls_max_iters"}));
  EXPECT_PRED_FORMAT2(mentions, refused([](auto & c) { c.ls_cutback = 1; }), (Words{"ls_cutback"}));
  EXPECT_PRED_FORMAT2(mentions, refused([](auto & c) { c.ls_c = 1; }), (Words{"ls_c"}));
  EXPECT_EQ(model->solver_config().atol, 1e-12);
}
