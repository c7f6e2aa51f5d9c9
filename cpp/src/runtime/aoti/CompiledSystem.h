// The equations of a compiled implicit segment, as the Newton solver sees them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "aoti/ImplicitStage.h"
#include "matlaw/solve/Newton.h"
#include "matlaw/solve/NonlinearSystem.h"
#include "solve/easy_steps.h"
#include "solve/settled_step.h"
#include "support/rows.h"

namespace matlaw::aoti
{
/// An implicit segment over the working set of a Newton solve.
template <typename Real>
class CompiledSystem final : public solve::NonlinearSystem<Real>
{
public:
  CompiledSystem(const ImplicitStage<Real> & stage, ChunkWorkspace<Real> & w, std::int64_t ld)
      : _stage(stage),
        _inputs(stage.residual.inputs),
        _w(w),
        _whole(ld)
  {
    restart();
  }

  std::int64_t size() const override { return _stage.n; }

  void keep(const std::vector<std::int32_t> & positions) override
  {
    const auto rows = std::int64_t(positions.size());
    const auto ld = support::whole_blocks(rows);
    std::int64_t components = 0;
    for (std::size_t k = 0; k < _w.given_slots.size(); k++)
      components += _inputs[_stage.unknowns.size() + k].size;
    Real * to = _w.givens_next.reserve(std::max<std::int64_t>(components, 1) * ld);
    for (std::size_t k = 0; k < _w.given_slots.size(); k++)
    {
      const Real * from = _w.given_slots[k];
      _w.given_slots[k] = to;
      const auto size = _inputs[_stage.unknowns.size() + k].size;
      support::gather_rows(from, _ld, positions, to, ld, size);
      to += size * ld;
    }
    std::swap(_w.givens, _w.givens_next);
    _ld = ld;
  }

  bool restart() override
  {
    // What follows the unknowns: givens and parameters. Read in place until rows leave.
    _ld = _whole;
    _w.given_slots.clear();
    for (std::size_t k = _stage.unknowns.size(); k < _inputs.size(); k++)
      _w.given_slots.push_back(_w.arena.data() + _inputs[k].offset * _ld);
    return true;
  }

  void residual(const Real * u, Real * b, std::int64_t ld, std::int64_t rows) override
  {
    set_inputs(u, ld);
    _w.graph_outputs.assign({b});
    _stage.residual.graph->run(_w.graph_inputs.data(), _w.graph_outputs.data(), ld, rows);
  }

  void jacobian(const Real * u, Real * A, Real * b, std::int64_t ld, std::int64_t rows) override
  {
    set_inputs(u, ld);
    _w.graph_outputs.assign({A, b});
    _stage.jacobian.graph->run(_w.graph_inputs.data(), _w.graph_outputs.data(), ld, rows);
  }

  bool has_step() const override { return _stage.newton_step; }

  void step(const Real * u, Real * du, Real * b, Real * sound, std::int64_t ld, std::int64_t rows) override
  {
    set_inputs(u, ld);
    _w.graph_outputs.assign({du, b, sound});
    _stage.newton_step->run(_w.graph_inputs.data(), _w.graph_outputs.data(), ld, rows);
  }

  /// Newton's method in the kernel itself, from the guess in `u`, (size, ld); false where there is no such kernel.
  /// See native::SolveFunction for `report`.
  bool solve(Real * u, Real * report, const solve::NewtonConfig & config, std::int64_t ld, std::int64_t rows)
  {
    const auto solver = _stage.newton_step ? _stage.newton_step->solver() : nullptr;
    if (!solver)
      return false;
    set_inputs(u, ld);
    const solve::SettledStep settled(config);
    const double limits[] = {config.atol, config.rtol, double(solve::easy_steps), settled.strict, settled.loose};
    solver(_w.graph_inputs.data(), u, report, limits, config.miters, ld, rows);
    return true;
  }

  const solve::LinearStructure & structure() const override { return _stage.structure; }

  void multiply(const Real * u, const Real * v, Real * product, std::int64_t ld, std::int64_t rows) override
  {
    set_inputs(u, ld);
    _w.graph_inputs.push_back(v);
    _w.graph_outputs.assign({product});
    _stage.matvec->run(_w.graph_inputs.data(), _w.graph_outputs.data(), ld, rows);
  }

  void preconditioner(const Real * u, Real * M, std::int64_t ld, std::int64_t rows) override
  {
    set_inputs(u, ld);
    _w.graph_outputs.assign({M});
    _stage.precond_setup->run(_w.graph_inputs.data(), _w.graph_outputs.data(), ld, rows);
  }

private:
  void set_inputs(const Real * u, std::int64_t ld)
  {
    _w.graph_inputs.clear();
    for (const auto & slice : _stage.unknowns)
      _w.graph_inputs.push_back(u + slice.offset * ld);
    for (const auto * slot : _w.given_slots)
      _w.graph_inputs.push_back(slot);
    for (const auto k : _stage.residual.weights)
      _w.graph_inputs.push_back(_w.weights[k]);
  }

  const ImplicitStage<Real> & _stage;
  const std::vector<Slot> & _inputs;
  ChunkWorkspace<Real> & _w;
  /// Of the arena, and of the working set
  std::int64_t _whole, _ld = 0;
};
}
