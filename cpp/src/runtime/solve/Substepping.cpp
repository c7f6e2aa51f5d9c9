#include "matlaw/solve/Substepping.h"

#include <algorithm>
#include <string>

#include "matlaw/logging.h"
#include "matlaw/solve/step_factor.h"
#include "support/AlignedBuffer.h"
#include "support/rows.h"
#include "support/text.h"

namespace matlaw::solve
{
namespace
{
/// Where a row stands, counted in the smallest substeps.
struct Progress
{
  std::int64_t at = 0;
  std::int64_t size = 0;
  std::int64_t smallest = 0;
  bool done = false;

  std::int64_t end() const { return at + size; }

  void succeed(bool easy)
  {
    at += size;
    smallest = std::min(smallest, size);
    if (easy && at % (2 * size) == 0)
      size *= 2;
  }
};

/// One array of the inputs, over all rows: their values, or their derivatives, which move alike.
template <typename Real>
class MovingInputs
{
public:
  /// `width`: entries of a component, 1 for values
  MovingInputs(const Increment & increment, const Real * whole, std::int64_t width, std::int64_t ld)
      : _increment(increment),
        _whole(whole),
        _width(width),
        _ld(ld)
  {
    Real * start = _start.reserve(std::max<std::int64_t>(increment.inputs * width * ld, 1));
    for (const auto & carry : increment.carries)
      std::copy_n(whole + carry.old * width * ld, carry.size * width * ld, start + carry.old * width * ld);
  }

  /// The inputs of the next substep of some rows, (inputs, width, ld).
  const Real * assemble(const std::vector<std::int32_t> & rows, const std::vector<Progress> & progress,
                        std::int64_t steps, std::int64_t ld)
  {
    _substep_ld = ld;
    Real * to = _substep.reserve(std::max<std::int64_t>(_increment.inputs * _width * ld, 1));
    gather(rows, _whole, to, 0, _increment.inputs);
    for (const auto & carry : _increment.carries)
      gather(rows, _start.data(), to, carry.old, carry.size);
    for (const auto & ramp : _increment.ramps)
      for (std::int64_t e = 0; e < ramp.size * _width; e++)
      {
        const Real * current = _whole + (ramp.current * _width + e) * _ld;
        const Real * old = _whole + (ramp.old * _width + e) * _ld;
        Real * moved = to + (ramp.current * _width + e) * ld;
        for (std::size_t p = 0; p < rows.size(); p++)
        {
          const auto row = rows[p];
          const auto end = progress[row].end();
          if (end < steps)
            moved[p] = old[row] + Real(double(end) / double(steps)) * (current[row] - old[row]);
        }
        std::fill(moved + rows.size(), moved + ld, moved[rows.size() - 1]);
      }
    return to;
  }

  /// Column p of the last assembly was taken: row `row` goes on from there. `outputs`: (outputs, width, ld) of it.
  void advance(std::int64_t p, std::int32_t row, const Real * outputs)
  {
    for (const auto & carry : _increment.carries)
    {
      const Real * from = (carry.of_output ? outputs : _substep.data()) + carry.current * _width * _substep_ld;
      Real * to = _start.data() + carry.old * _width * _ld;
      for (std::int64_t e = 0; e < carry.size * _width; e++)
        to[e * _ld + row] = from[e * _substep_ld + p];
    }
  }

private:
  void gather(const std::vector<std::int32_t> & rows, const Real * from, Real * to, std::int64_t first,
              std::int64_t size) const
  {
    for (std::int64_t e = first * _width; e < (first + size) * _width; e++)
    {
      for (std::size_t p = 0; p < rows.size(); p++)
        to[e * _substep_ld + std::int64_t(p)] = from[e * _ld + rows[p]];
      std::fill(to + e * _substep_ld + std::int64_t(rows.size()), to + (e + 1) * _substep_ld,
                to[e * _substep_ld + std::int64_t(rows.size()) - 1]);
    }
  }

  const Increment & _increment;
  const Real * _whole;
  std::int64_t _width, _ld, _substep_ld = 0;
  /// Old values at the start of each row's substep; of use for carried ones only
  support::AlignedBuffer<Real> _start;
  support::AlignedBuffer<Real> _substep;
};
}

/// What became of the rows, where somebody listens.
static void say_verdicts(const std::vector<Progress> & progress, const SubstepVerdict * verdicts, std::int64_t steps)
{
  using namespace logging;
  if (!enabled(Channel::substep, Level::info))
    return;
  const auto fraction = [&](std::int64_t size)
  { return "1/" + std::to_string(steps / std::max<std::int64_t>(size, 1)); };
  std::int64_t failed = 0, most = 0, iterations = 0, smallest = steps;
  for (std::size_t row = 0; row < progress.size(); row++)
  {
    const auto & verdict = verdicts[row];
    failed += verdict.status != Status::CONVERGED;
    most = std::max<std::int64_t>(most, verdict.substeps);
    iterations += verdict.iterations;
    smallest = std::min(smallest, progress[row].smallest);
    if (enabled(Channel::substep, Level::debug))
      write(Channel::substep, Level::debug,
            "row " + std::to_string(row) + " of those in substeps: " +
                (verdict.status == Status::CONVERGED
                     ? "solved in " + std::to_string(verdict.substeps) + " substeps, the smallest " +
                           fraction(progress[row].smallest)
                     : "failed after " + std::to_string(verdict.substeps) + " substeps, at " +
                           support::number_text(double(progress[row].at) / double(steps)) + " of the increment") +
                ", " + std::to_string(verdict.iterations) +
                " iterations, last |r| = " + support::number_text(verdict.residual));
  }
  write(Channel::substep, Level::info,
        std::to_string(progress.size()) + " rows took substeps: at most " + std::to_string(most) + ", the smallest " +
            fraction(smallest) + " of the increment, " + std::to_string(iterations) + " iterations in all; " +
            std::to_string(failed) + " rows failed even so");
}

template <typename Real>
void substep(LawStep<Real> & law, const Increment & increment, const NewtonConfig & config, std::int64_t ld,
             std::int64_t rows, const Real * inputs, Real * outputs, std::int64_t columns,
             const Real * input_derivatives, Real * output_derivatives, SubstepVerdict * verdicts)
{
  const auto steps = std::int64_t(1) << config.max_substepping_level;
  std::fill_n(verdicts, rows, SubstepVerdict{});
  if (steps == 1)
    return;
  std::vector<Progress> progress(rows, {.size = steps / 2, .smallest = steps / 2});
  MovingInputs<Real> values(increment, inputs, 1, ld);
  MovingInputs<Real> derivatives(increment, input_derivatives, columns, ld);
  support::AlignedBuffer<Real> found, found_derivatives;
  std::vector<RowVerdict> solved;
  std::vector<std::int32_t> working;
  const auto easy = easy_iterations(config.miters);

  const auto scatter =
      [&](const Real * from, std::int64_t from_ld, std::int64_t p, Real * to, std::int32_t row, std::int64_t components)
  {
    for (std::int64_t e = 0; e < components; e++)
      to[e * ld + row] = from[e * from_ld + p];
  };

  for (;;)
  {
    working.clear();
    for (std::int64_t row = 0; row < rows; row++)
      if (!progress[row].done)
        working.push_back(std::int32_t(row));
    if (working.empty())
      return say_verdicts(progress, verdicts, steps);
    const auto count = std::int64_t(working.size());
    const auto width = support::whole_blocks(count);
    const Real * at = values.assemble(working, progress, steps, width);
    const Real * at_derivatives = columns ? derivatives.assemble(working, progress, steps, width) : nullptr;
    Real * out = found.reserve(std::max<std::int64_t>(increment.outputs * width, 1));
    Real * out_derivatives =
        columns ? found_derivatives.reserve(std::max<std::int64_t>(increment.outputs * columns * width, 1)) : nullptr;
    solved.assign(count, {});
    law.run(working, width, at, at_derivatives, out, out_derivatives, solved.data());

    for (std::int64_t p = 0; p < count; p++)
    {
      const auto row = working[p];
      auto & state = progress[row];
      auto & verdict = verdicts[row];
      verdict.iterations += solved[p].iterations;
      verdict.residual = solved[p].final_residual;
      if (solved[p].status != Status::CONVERGED)
      {
        state.done = state.size == 1;
        state.size /= 2;
        if (state.done)
          verdict.dt_factor = substep_factor(Status::NOT_CONVERGED, 0.0);
        continue;
      }
      verdict.substeps++;
      if (state.end() < steps)
      {
        values.advance(p, row, out);
        if (columns)
          derivatives.advance(p, row, out_derivatives);
        state.succeed(solved[p].iterations <= easy);
        continue;
      }
      scatter(out, width, p, outputs, row, increment.outputs);
      if (columns)
        scatter(out_derivatives, width, p, output_derivatives, row, increment.outputs * columns);
      state.done = true;
      verdict.status = Status::CONVERGED;
      verdict.dt_factor =
          substep_factor(Status::CONVERGED, double(std::min(state.smallest, state.size)) / double(steps));
    }
  }
}

template void substep<double>(LawStep<double> &, const Increment &, const NewtonConfig &, std::int64_t, std::int64_t,
                              const double *, double *, std::int64_t, const double *, double *, SubstepVerdict *);
template void substep<float>(LawStep<float> &, const Increment &, const NewtonConfig &, std::int64_t, std::int64_t,
                             const float *, float *, std::int64_t, const float *, float *, SubstepVerdict *);
}
