// A loaded law, called for one point with plain numbers: compiled laws without tensors, others through them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "Settings.h"

namespace matlaw
{
class Model;
namespace aoti
{
class Model;
}
}

namespace matlaw::umat
{
/// An input or output of the law: where its values are among those of all.
struct Variable
{
  std::string name;
  std::string type;
  std::int64_t size = 0;
  /// Components of one tensor; `size / base_size` tensors make up the variable
  std::int64_t base_size = 1;
  std::int64_t offset = 0;
};

/// A derivative: `rows` x `columns` numbers, row by row, from `offset` on.
struct Block
{
  std::string output, input;
  std::int64_t rows = 0, columns = 0, offset = 0;
};

struct Verdict
{
  bool converged = false;
  /// An input is not finite
  bool bad_input = false;
  double dt_factor = 1.0;
};

class Law
{
public:
  /// Loads the law of the settings. Throws FatalError.
  explicit Law(const Settings & settings);
  ~Law();

  const std::vector<Variable> & inputs() const { return _inputs; }
  const std::vector<Variable> & outputs() const { return _outputs; }
  const std::vector<Block> & blocks() const { return _blocks; }
  std::int64_t input_size() const { return _input_size; }
  std::int64_t output_size() const { return _output_size; }
  std::int64_t jacobian_size() const { return _jacobian_size; }
  /// Initial value of an input that is an old state; empty for others.
  std::vector<double> initial(const std::string & input) const;

  std::vector<std::string> parameter_names() const;
  /// Of a scalar parameter. Throws FatalError.
  void set_parameter(const std::string & name, double value);

  /// May be called from several threads. Throws FatalError, never for a point.
  Verdict evaluate(const double * inputs, double * outputs, double * jacobian) const;

private:
  Verdict evaluate_with_tensors(const double * inputs, double * outputs, double * jacobian) const;

  std::unique_ptr<Model> _model;
  /// `_model`, where it is compiled
  const aoti::Model * _compiled = nullptr;
  std::vector<Variable> _inputs, _outputs;
  std::vector<Block> _blocks;
  std::int64_t _input_size = 0, _output_size = 0, _jacobian_size = 0;
};
}
