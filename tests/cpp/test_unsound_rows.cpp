// Sensitivities from a kernel without a matrix, where it cannot solve for some rows.
#include <vector>

#include <gtest/gtest.h>

#include "aoti/ImplicitStage.h"

using namespace matlaw;
using namespace matlaw::aoti;

namespace
{
constexpr std::int64_t rows = 64;

/// A graph that applies `function(in, out)` to each row of up to two inputs and three outputs of one component.
template <typename Function>
class RowGraph final : public graph::Graph
{
public:
  explicit RowGraph(Function function) : _function(std::move(function)) {}

  void run(const void * const * inputs, void * const * outputs, std::int64_t ld, std::int64_t count) const override
  {
    seen.push_back(count);
    for (std::int64_t i = 0; i < count; i++)
      _function([&](int k) { return static_cast<const double *>(inputs[k])[i]; },
                [&](int k) -> double & { return static_cast<double *>(outputs[k])[i]; });
  }

  mutable std::vector<std::int64_t> seen;

private:
  Function _function;
};
}

TEST(UnsoundRows, alone_are_solved_with_pivoting)
{
  // u = g^2; the kernel knows no derivative for g = 0.
  const RowGraph residual([](auto in, auto out) { out(0) = in(1) * in(1) - in(0); });
  const RowGraph jacobian(
      [](auto in, auto out)
      {
        out(0) = 1.0;
        out(1) = in(1) * in(1) - in(0);
      });
  const RowGraph given([](auto in, auto out) { out(0) = -2.0 * in(1); });
  const RowGraph kernel(
      [](auto in, auto out)
      {
        out(0) = in(1) == 0.0 ? 1e30 : 2.0 * in(1);
        out(1) = in(1) == 0.0 ? 0.0 : 1.0;
      });
  const Slot u{0, 1}, g{1, 1}, S{2, 1}, sound{3, 1};
  ImplicitStage<double> stage;
  stage.n = 1;
  stage.unknowns.resize(1);
  stage.unknowns[0].size = 1;
  stage.residual = {&residual, {u, g}, {}};
  stage.jacobian = {&jacobian, {u, g}, {}};
  stage.u = u;
  stage.zeros = {u};
  stage.columns = 1;
  auto & sensitivity = stage.sparse.emplace();
  sensitivity.kernel = {&kernel, {u, g}, {S, sound}};
  sensitivity.S = S;
  sensitivity.sound = sound;
  sensitivity.columns = 1;
  sensitivity.jacobian_given = &given;

  const std::vector<solve::NewtonConfig> solvers(1);
  ChunkWorkspace<double> w;
  w.solvers = &solvers;
  w.status.assign(rows, Status::CONVERGED);
  w.iterations.assign(rows, 0);
  w.residual.assign(rows, 0.0);
  w.dt_factor.assign(rows, 1.0);
  double * arena = w.arena.reserve(4 * rows);
  for (std::int64_t i = 0; i < rows; i++)
    arena[rows + i] = i == 5 || i == 40 ? 0.0 : 0.1 * double(i + 1);
  stage.run(w, rows, rows, true);

  EXPECT_EQ(given.seen, std::vector<std::int64_t>{8}) << "the two rows, in one block";
  for (std::int64_t i = 0; i < rows; i++)
  {
    EXPECT_EQ(w.status[i], Status::CONVERGED);
    EXPECT_DOUBLE_EQ(arena[2 * rows + i], 2.0 * arena[rows + i]) << "row " << i;
  }
}
