// What each variable of a law is to the host.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "Law.h"
#include "Settings.h"

namespace matlaw::umat
{
struct Binding
{
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

  std::vector<Input> inputs;
  std::vector<Output> outputs;
  std::vector<Tangent> tangents;
  /// Where the stress stands among the outputs
  std::int64_t stress = 0;
  /// Entries of STATEV and PROPS that are used
  int n_statev = 0, n_props = 0;
  bool by_deformation_gradient = false;
};

/// Throws FatalError when a variable has no place, or one that it does not fit.
Binding bind(const Settings & settings, const Law & law);

bool follows_strain(Quantity quantity);
}
