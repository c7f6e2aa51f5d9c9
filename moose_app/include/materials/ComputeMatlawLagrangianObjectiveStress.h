// Objective integration of the stress of a law of the strain, where this MOOSE has it.
#pragma once

#if __has_include("ComputeLagrangianObjectiveStress.h")

#include "ComputeLagrangianObjectiveStress.h"

/// Gives the stress of a law of the strain to MOOSE's objective integration for the Lagrangian kernels with large
/// kinematics.
class ComputeMatlawLagrangianObjectiveStress : public ComputeLagrangianObjectiveStress
{
public:
  static InputParameters validParams();
  ComputeMatlawLagrangianObjectiveStress(const InputParameters & parameters);

protected:
  virtual void computeQpSmallStress() override;

private:
  const MaterialProperty<RankTwoTensor> & _law_stress;
  const MaterialProperty<RankFourTensor> & _law_derivative;
};

#endif
