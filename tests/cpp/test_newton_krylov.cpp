#include <cmath>

#include <gtest/gtest.h>

#include "matlaw/errors.h"
#include "matlaw/solve/Newton.h"

using namespace matlaw;

namespace
{
/// x^2 = a, x y = a for each row, with products of the Jacobian and its diagonal only. Counts preconditioners.
class SquareRoots final : public solve::NonlinearSystem<double>
{
public:
  SquareRoots(std::vector<double> a, bool preconditioned) : _a(std::move(a))
  {
    if (preconditioned)
      _structure.preconditioner = {{0, 1}, {1, 1}};
  }
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
    ASSERT_EQ(rows, std::int64_t(_a.size()));
    for (std::int64_t i = 0; i < rows; i++)
    {
      b[i] = _a[i] - u[i] * u[i];
      b[ld + i] = _a[i] - u[i] * u[ld + i];
    }
  }
  void jacobian(const double *, double *, double *, std::int64_t, std::int64_t) override
  {
    ADD_FAILURE() << "a Krylov solve assembles nothing";
  }
  const solve::LinearStructure & structure() const override { return _structure; }
  void multiply(const double * u, const double * v, double * product, std::int64_t ld, std::int64_t rows) override
  {
    for (std::int64_t i = 0; i < rows; i++)
    {
      product[i] = 2 * u[i] * v[i];
      product[ld + i] = u[ld + i] * v[i] + u[i] * v[ld + i];
    }
  }
  void preconditioner(const double * u, double * M, std::int64_t ld, std::int64_t rows) override
  {
    builds++;
    for (std::int64_t i = 0; i < rows; i++)
    {
      M[i] = 2 * u[i];
      M[ld + i] = u[i];
    }
  }
  int builds = 0;

private:
  std::vector<double> _a;
  solve::LinearStructure _structure;
};

struct Result
{
  std::vector<double> x;
  std::vector<solve::RowVerdict> verdicts;
  int builds;
};

Result run(const std::vector<double> & a, const solve::NewtonConfig & config, bool preconditioned = false)
{
  const auto rows = std::int64_t(a.size());
  const auto ld = (rows + 7) / 8 * 8;
  std::vector<double> u(2 * ld, 1.0);
  std::vector<solve::RowVerdict> verdicts(rows);
  SquareRoots system(a, preconditioned);
  solve::newton<double>(system, u.data(), ld, rows, config, verdicts.data());
  return {{u.begin(), u.begin() + rows}, verdicts, system.builds};
}

std::vector<double> many()
{
  std::vector<double> a;
  for (int i = 0; i < 43; i++)
    a.push_back(1.0 + i * i);
  return a;
}

solve::NewtonConfig with(solve::KrylovConfig krylov)
{
  return {.atol = 1e-10, .rtol = 1e-12, .miters = 40, .krylov = krylov};
}
}

TEST(NewtonKrylov, solves_every_row)
{
  const auto a = many();
  for (const auto method : {solve::KrylovMethod::GMRES, solve::KrylovMethod::BICGSTAB})
    for (const bool preconditioned : {false, true})
    {
      const auto [x, verdicts, builds] = run(a, with({.method = method}), preconditioned);
      for (std::size_t i = 0; i < a.size(); i++)
      {
        EXPECT_EQ(verdicts[i].status, Status::CONVERGED) << i;
        EXPECT_NEAR(x[i], std::sqrt(a[i]), 1e-9 * x[i]);
      }
    }
}

TEST(NewtonKrylov, the_cache_strategy_says_when_a_preconditioner_is_built)
{
  const auto a = many();
  using solve::PreconditionerCache;
  const auto builds = [&](PreconditionerCache strategy, std::int64_t bar)
  {
    const auto result = run(a, with({.cache_strategy = strategy, .cache_max_its = bar}), true);
    for (const auto & verdict : result.verdicts)
      EXPECT_EQ(verdict.status, Status::CONVERGED);
    return result.builds;
  };
  const auto always = builds(PreconditionerCache::NONE, 0);
  EXPECT_GT(always, 5);
  EXPECT_EQ(builds(PreconditionerCache::CHORD, 0), 1);
  EXPECT_EQ(builds(PreconditionerCache::MAX_ITS, 100), 1);
  EXPECT_EQ(builds(PreconditionerCache::MAX_ITS, 0), always);
}

TEST(NewtonKrylov, a_row_has_the_same_bits_alone_and_in_a_batch)
{
  const auto a = many();
  for (const auto strategy :
       {solve::PreconditionerCache::NONE, solve::PreconditionerCache::CHORD, solve::PreconditionerCache::MAX_ITS})
  {
    const auto config = with({.cache_strategy = strategy, .cache_max_its = 1});
    const auto whole = run(a, config, true);
    for (std::size_t i = 0; i < a.size(); i++)
    {
      const auto alone = run({a[i]}, config, true);
      EXPECT_EQ(alone.x[0], whole.x[i]);
      EXPECT_EQ(alone.verdicts[0].iterations, whole.verdicts[i].iterations);
    }
  }
}

TEST(NewtonKrylov, rows_without_a_solution_fail_alone)
{
  auto a = many();
  a[7] = -1.0;
  const auto [x, verdicts, builds] = run(a, with({}));
  for (std::size_t i = 0; i < a.size(); i++)
    EXPECT_EQ(verdicts[i].status, i == 7 ? Status::NOT_CONVERGED : Status::CONVERGED) << i;
}

TEST(NewtonKrylov, searches_along_its_steps)
{
  const auto a = many();
  for (const auto search : {solve::LineSearch::BACKTRACKING, solve::LineSearch::STRONG_WOLFE})
  {
    auto config = with({.rel_tol = 1e-8});
    config.ls_type = search;
    const auto [x, verdicts, builds] = run(a, config);
    for (std::size_t i = 0; i < a.size(); i++)
    {
      EXPECT_EQ(verdicts[i].status, Status::CONVERGED) << i;
      EXPECT_NEAR(x[i], std::sqrt(a[i]), 1e-9 * x[i]);
    }
  }
}
