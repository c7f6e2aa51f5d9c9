#include "aoti/ModelImplementation.h"

namespace matlaw::aoti
{
solve::NewtonConfig Model::solver_config(const std::string & update) const
{
  return _implementation->solvers[updates_of(update).front()];
}

void Model::set_solver_config(const solve::NewtonConfig & config, const std::string & update)
{
  auto & self = *_implementation;
  const auto numbers = updates_of(update);
  solve::check(config);
  auto changed = self.solvers;
  for (const auto i : numbers)
    changed[i] = config;
  // Graphs and structure serve one kind of linear solver each; where updates differ, each keeps its kind.
  const auto keep_kind = [&](std::optional<solve::KrylovConfig> solve::NewtonConfig::* solver, const char * what)
  {
    bool any = false;
    for (const auto i : numbers)
    {
      const bool fits = (config.*solver).has_value() == (self.solvers[i].*solver).has_value();
      any |= fits;
      if (!fits)
        changed[i].*solver = self.solvers[i].*solver;
    }
    if (!any)
      throw FatalError("Model '" + name() + "' was compiled with a " +
                       (config.*solver ? "direct linear solver" : "Krylov solver") + what +
                       ": its graphs serve that kind only. Compile it with another to change that.");
  };
  keep_kind(&solve::NewtonConfig::krylov, "");
  keep_kind(&solve::NewtonConfig::input_sensitivity, " for derivatives by inputs");
  keep_kind(&solve::NewtonConfig::param_sensitivity, " for derivatives by parameters");
  self.evaluator->require_room(changed);
  self.solvers = std::move(changed);
}
}
