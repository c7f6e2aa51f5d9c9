// A law behind the UMAT interface: one call is one integration point.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

#include "Binding.h"
#include "Hypothesis.h"
#include "Law.h"
#include "Rotation.h"
#include "Settings.h"
#include "call.h"

namespace matlaw::umat
{
/// evaluate() may be called from several threads at once.
class Material
{
public:
  /// Loads the law and checks that each of its variables has a place. Throws FatalError.
  explicit Material(Settings settings);
  ~Material();

  /// Throws FatalError for arrays that do not fit. A point that fails throws ConvergenceError or changes PNEWDT, as the
  /// settings say, and leaves STRESS and STATEV as they were.
  void evaluate(const matlaw_umat_call & call);

private:
  struct Workspace;

  void check_arrays(const matlaw_umat_call & call) const;
  const Law & law_for(const matlaw_umat_call & call);

  void set_inputs(Workspace & w, const matlaw_umat_call & call, const Rotation & rotation) const;
  void set_strain(Workspace & w, const matlaw_umat_call & call) const;
  void form_tangent(Workspace & w, const matlaw_umat_call & call) const;
  Verdict solve(Workspace & w, const Law & law, const matlaw_umat_call & call, const Hypothesis & hypothesis) const;
  /// Asks the thread's memory of points first.
  Verdict solve_or_remember(Workspace & w, const Law & law, const matlaw_umat_call & call,
                            const Hypothesis & hypothesis) const;
  void write(const Workspace & w, const matlaw_umat_call & call, const Hypothesis & hypothesis) const;
  void fail(const Workspace & w, const matlaw_umat_call & call, const Verdict & verdict);
  std::string bad_inputs(const Workspace & w, bool & from_the_solve) const;

  Settings _settings;
  Binding _binding;
  /// No two materials of a process have the same
  const std::uint64_t _number;

  /// One law for each set of PROPS that sets parameters of it.
  std::map<std::vector<double>, std::unique_ptr<Law>> _laws;
  std::shared_mutex _mutex;
  const Law * _first = nullptr;

  /// Start and length of the step of which a failure was reported last
  std::pair<double, double> _said{-1.0, -1.0};
  std::mutex _saying;
};
}
