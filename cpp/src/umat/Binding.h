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

  /// Entries of STATEV that are written, counted from 1
  struct Written
  {
    std::string what;
    int first = 0, last = 0;
  };

  std::vector<Input> inputs;
  std::vector<Output> outputs;
  std::vector<Tangent> tangents;
  std::vector<Written> written;
  /// Where the stress stands among the outputs
  std::int64_t stress = 0;
  /// Entries of STATEV and PROPS that are used
  int n_statev = 0, n_props = 0;
  bool by_deformation_gradient = false;

  /// Throws FatalError when something is written to these entries of STATEV already. `path`: the settings
  void check_not_written(const std::string & path, const Written & entries) const;
};

/// Throws FatalError when a variable has no place, or one that it does not fit.
Binding bind(const Settings & settings, const Law & law);

bool follows_strain(Quantity quantity);
}
