// The [Matlaw] block.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "Action.h"
#include "MatlawMapping.h"

/// One entry of [Matlaw]: a MatlawBatch, a MatlawMaterial and, for a law of mechanics, the object that hands its stress to
/// the kernels. Infers what the entry does not say, and checks that nothing of the law is left over.
class MatlawAction : public Action
{
public:
  static InputParameters validParams();
  MatlawAction(const InputParameters & parameters);

  virtual void act() override;

private:
  using Names = std::vector<std::string>;
  enum class Mechanics
  {
    NONE,
    STRAIN,
    DEFORMATION_GRADIENT
  };

  /// Fills the lists below.
  void resolve();
  void findFormulation();
  void findMechanics();
  void findGradient(const std::string & strain, const std::string & stress);
  void findInputs();
  void findOutputs();
  void findParameters();
  std::string inferredSource(const std::string & name) const;
  /// A finite strain calculator turns strain and stress by its rotation increment.
  bool finiteStrain() const;
  /// The parameters ask for strain = FINITE.
  static bool isFinite(const InputParameters & params);

  void addBatch();
  void addLawMaterial();
  void addStressMaterial();
  void setBlock(InputParameters & params) const;
  void setVariables(InputParameters & params) const;
  std::string property(const std::string & name) const { return _base_name + name; }
  [[noreturn]] void wrong(const std::string & what) const;

  const std::string _base_name;
  matlaw::host::LawDescription _law;
  Mechanics _mechanics = Mechanics::NONE;
  std::string _formulation;
  /// Which stress a law of the deformation gradient gives
  std::string _measure;
  bool _large_kinematics = false;
  /// The law's input and output of mechanics
  std::string _strain, _stress;
  std::string _stress_property, _derivative_property, _elastic_strain_property;
  Names _law_inputs, _moose_inputs, _moose_input_types;
  Names _law_outputs, _moose_outputs;
  Names _law_parameters, _moose_parameters, _moose_parameter_types;
  Names _law_derivatives, _moose_derivatives;
  std::vector<VariableName> _variables;
  std::string _rotation;
};
