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
  struct Input
  {
    Variable variable;
    Source source;
    std::vector<double> initial;
  };
  struct Output
  {
    Variable variable;
    Source source;
  };
  /// The derivative of the stress by an input that changes with the strain.
  struct Tangent
  {
    Quantity quantity;
    Block block;
  };
  struct Workspace;

  void bind();
  const Source & source_of(const std::map<std::string, Source> & sources, const char * kind,
                           const Variable & variable) const;
  void check_type(const Variable & variable, const Source & source, const std::string & place) const;
  void check_arrays(const matlaw_umat_call & call) const;
  const Law & law_for(const matlaw_umat_call & call);

  void set_inputs(Workspace & w, const matlaw_umat_call & call, const Rotation & rotation) const;
  void set_strain(Workspace & w, const matlaw_umat_call & call) const;
  void form_tangent(Workspace & w, const matlaw_umat_call & call) const;
  Verdict solve(Workspace & w, const Law & law, const matlaw_umat_call & call, const Hypothesis & hypothesis) const;
  void write(const Workspace & w, const matlaw_umat_call & call, const Hypothesis & hypothesis) const;
  void fail(const Workspace & w, const matlaw_umat_call & call, const Verdict & verdict);
  std::string bad_inputs(const Workspace & w, bool & from_the_solve) const;

  Settings _settings;
  std::vector<Input> _inputs;
  std::vector<Output> _outputs;
  std::vector<Tangent> _tangents;
  std::int64_t _stress = 0;
  /// Entries of STATEV and PROPS that are used
  int _n_statev = 0, _n_props = 0;
  bool _by_deformation_gradient = false;

  /// One law for each set of PROPS that sets parameters of it.
  std::map<std::vector<double>, std::unique_ptr<Law>> _laws;
  std::shared_mutex _mutex;
  const Law * _first = nullptr;

  /// Start and length of the step of which a failure was reported last
  std::pair<double, double> _said{-1.0, -1.0};
  std::mutex _saying;
};
}
