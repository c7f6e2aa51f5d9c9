// Stress of a law for MOOSE's Lagrangian kernels, where this MOOSE has them.
#pragma once

#if __has_include("ComputeLagrangianStressPK1.h")

#include "ComputeLagrangianStressPK1.h"
#include "MatlawTensors.h"

/// First Piola-Kirchhoff stress of the Lagrangian kernels from a law of the strain with small kinematics, or from a law of
/// the deformation gradient that gives the Cauchy or a Piola-Kirchhoff stress.
class ComputeMatlawLagrangianStress : public ComputeLagrangianStressPK1
{
public:
  static InputParameters validParams();
  ComputeMatlawLagrangianStress(const InputParameters & parameters);

protected:
  virtual void computeQpPK1Stress() override;

private:
  const MaterialProperty<RankTwoTensor> & _law_stress;
  const MaterialProperty<RankFourTensor> & _law_derivative;
  const MaterialProperty<RankTwoTensor> & _deformation_gradient;
  const bool _small;
  const MatlawTensors::Measure _measure;
};

#endif
