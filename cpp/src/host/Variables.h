// What a batch knows about the variables of its law.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "matlaw/host/Kinematics.h"
#include "tensors.h"

namespace matlaw
{
class Model;
}

namespace matlaw::host
{
/// Names and shapes of a law's variables, as the law has them and as the host sees them: under a hypothesis the host's
/// strain and stress have fewer components. Every wrong name throws FatalError.
class Variables
{
public:
  Variables(const Model & model, const Kinematics & kinematics);

  /// Inputs that the host sets, old variables, derivatives.
  const std::vector<std::string> & host_inputs() const noexcept { return _host_inputs; }
  const std::vector<std::string> & states() const noexcept { return _states; }
  const std::vector<std::pair<std::string, std::string>> & tangents() const noexcept { return _tangents; }
  /// With the names that it left open.
  const Kinematics & kinematics() const noexcept { return _kinematics; }

  bool is_state(const std::string & name) const;
  /// The host sees some of the six components of this variable: the strain or the stress under a hypothesis.
  bool is_reduced(const std::string & name) const;

  /// (*sub_batch, *base) of one value.
  const Shape & law_shape(const std::string & variable) const;
  const Shape & host_shape(const std::string & variable) const;
  /// Shape without sub-batch: the columns of a derivative by an input.
  const Shape & law_base_shape(const std::string & input) const;
  const Shape & host_base_shape(const std::string & input) const;
  Shape law_block_shape(const std::string & output, const std::string & input) const;

  void require_input(const std::string & name) const;
  void require_output(const std::string & name) const;
  void require_state(const std::string & name) const;
  void require_tangent(const std::string & output, const std::string & input) const;
  /// What messages call the batch.
  std::string batch() const;

private:
  void describe(const Model & model);
  void pair_states(const Model & model);
  void reduce(const Model & model);
  std::string choose(const std::string & given, const std::vector<std::string> & fitting, const char * role,
                     const char * usual) const;
  void require(const std::vector<std::string> & names, const std::string & name, const char * kind) const;

  std::string _law;
  Kinematics _kinematics;
  std::vector<std::string> _law_inputs;
  std::vector<std::string> _outputs;
  std::vector<std::string> _host_inputs;
  std::vector<std::string> _states;
  std::vector<std::pair<std::string, std::string>> _tangents;
  std::map<std::string, Shape> _shapes;
  std::map<std::string, Shape> _base_shapes;
  Shape _reduced;
};
}
