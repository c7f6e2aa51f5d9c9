#include "ComputeMatlawLagrangianStress.h"

#if __has_include("ComputeLagrangianStressPK1.h")

#include "RankFourTensor.h"
#include "RankTwoTensor.h"

registerMooseObject("MatlawApp", ComputeMatlawLagrangianStress);

InputParameters
ComputeMatlawLagrangianStress::validParams()
{
  InputParameters params = ComputeLagrangianStressPK1::validParams();
  params.addClassDescription("Stress and its derivative from a law of matlaw, for the Lagrangian kernels.");
  params.addRequiredParam<MaterialPropertyName>("law_stress", "Property with the stress of the law");
  params.addRequiredParam<MaterialPropertyName>("law_derivative", "Property with its derivative");
  MooseEnum measure("SMALL CAUCHY PK1 PK2", "SMALL");
  params.addParam<MooseEnum>("stress_measure",
                             measure,
                             "SMALL for a law of the strain, else which stress a law of the deformation gradient gives");
  return params;
}

ComputeMatlawLagrangianStress::ComputeMatlawLagrangianStress(const InputParameters & parameters)
  : ComputeLagrangianStressPK1(parameters),
    _law_stress(getMaterialProperty<RankTwoTensor>("law_stress")),
    _law_derivative(getMaterialProperty<RankFourTensor>("law_derivative")),
    _deformation_gradient(getMaterialPropertyByName<RankTwoTensor>(_base_name + "deformation_gradient")),
    _small(getParam<MooseEnum>("stress_measure") == "SMALL"),
    _measure(MatlawTensors::measure(getParam<MooseEnum>("stress_measure")))
{
  if (_small && _large_kinematics)
    mooseError("a law of the strain has no stress for large kinematics by itself: take "
               "ComputeMatlawLagrangianObjectiveStress ([Matlaw] formulation = LAGRANGIAN_OBJECTIVE), or a law of the deformation gradient");
}

void
ComputeMatlawLagrangianStress::computeQpPK1Stress()
{
  _pk1_stress[_qp] = _law_stress[_qp];
  _pk1_jacobian[_qp] = _law_derivative[_qp];
  if (!_small)
    MatlawTensors::toPK1(_measure, _deformation_gradient[_qp], _pk1_stress[_qp], _pk1_jacobian[_qp]);
}

#endif
