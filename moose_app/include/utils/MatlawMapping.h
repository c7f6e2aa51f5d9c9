// Which numbers of MOOSE are which variables of a law.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "InputParameters.h"

#include "matlaw/host/Law.h"

/// Where the values of a variable of the law come from.
enum class MatlawSource
{
  MATERIAL,
  VARIABLE,
  FUNCTION,
  POSTPROCESSOR,
  TIME
};

/// "MATERIAL VARIABLE FUNCTION POSTPROCESSOR TIME"
extern const char * const matlaw_sources;
MatlawSource matlawSource(const std::string & text);

/// One thing that a point hands to its law.
struct MatlawColumn
{
  enum class Role
  {
    INPUT,
    OLD,
    PARAMETER
  };

  /// The law's name for it
  std::string name;
  Role role = Role::INPUT;
  /// "Scalar", "Vec", "R2", "SR2", "Triple" (spins, rotations); anything else is a list of numbers
  std::string type;
  unsigned int size = 1;
  /// Where its numbers start in the row of a point
  unsigned int offset = 0;

  MatlawSource source = MatlawSource::MATERIAL;
  /// Name of the property, variable, function or postprocessor
  std::string moose;
  /// The value of the previous time step
  bool old = false;
};

/// One output of the law as a material property.
struct MatlawProperty
{
  std::string output;
  std::string property;
  std::string type;
  unsigned int size = 1;
  /// The law has its old value, which starts from `initial`
  bool stateful = false;
  std::vector<double> initial;
};

/// One derivative of the law as a material property.
struct MatlawDerivative
{
  std::string output;
  std::string input;
  std::string property;
  unsigned int rows = 1;
  unsigned int columns = 1;
  std::string output_type;
  std::string input_type;
};

/// A law, loaded once for each process, and what it is to a [Matlaw] block.
class MatlawMapping
{
public:
  /// Parameters that name the law.
  static InputParameters lawParams();
  /// Parameters that pair MOOSE's names with the law's.
  static InputParameters mappingParams();

  /// The law that these parameters name. The same parameters give the same law. Throws matlaw::FatalError.
  static std::shared_ptr<matlaw::Model> law(const InputParameters & parameters);

  /// Every input of the law has to be mapped. Throws std::invalid_argument, listing what the law offers, where that is not
  /// so or something has no counterpart.
  MatlawMapping(const InputParameters & parameters, const matlaw::host::LawDescription & law);

  const std::vector<MatlawColumn> & columns() const { return _columns; }
  const std::vector<MatlawProperty> & properties() const { return _properties; }
  const std::vector<MatlawDerivative> & derivatives() const { return _derivatives; }
  /// Numbers in the row of a point
  unsigned int rowSize() const { return _row_size; }

private:
  void addInputs(const InputParameters & parameters, const matlaw::host::LawDescription & law);
  void addOldValues(const matlaw::host::LawDescription & law);
  void addParameters(const InputParameters & parameters, const matlaw::host::LawDescription & law);
  void addProperties(const InputParameters & parameters, const matlaw::host::LawDescription & law);
  void addDerivatives(const InputParameters & parameters, const matlaw::host::LawDescription & law);
  void add(MatlawColumn column, const matlaw::host::LawVariable & variable);

  std::vector<MatlawColumn> _columns;
  std::vector<MatlawProperty> _properties;
  std::vector<MatlawDerivative> _derivatives;
  unsigned int _row_size = 0;
};
