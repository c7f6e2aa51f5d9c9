// Stress of a law for MOOSE's stress divergence kernels.
#pragma once

#include "ComputeStressBase.h"
#include "MatlawTensors.h"

/// The properties `stress` and `Jacobian_mult` of MOOSE's small, incremental and finite strain systems, from the stress of
/// a law and its derivative by the strain or by the deformation gradient.
class ComputeMatlawStress : public ComputeStressBase
{
public:
  static InputParameters validParams();
  ComputeMatlawStress(const InputParameters & parameters);

protected:
  virtual void computeQpStress() override;

private:
  const MaterialProperty<RankTwoTensor> & _law_stress;
  const MaterialProperty<RankFourTensor> & _law_derivative;
  const MatlawTensors::Measure _measure;
  /// A null pointer for a law of the strain
  const MaterialProperty<RankTwoTensor> * const _deformation_gradient;
  /// A null pointer for a law that does not give it: the property elastic_strain is then zero
  const MaterialProperty<RankTwoTensor> * const _law_elastic_strain;
};
