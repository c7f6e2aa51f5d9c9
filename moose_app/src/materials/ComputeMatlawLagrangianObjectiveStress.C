#include "ComputeMatlawLagrangianObjectiveStress.h"

#if __has_include("ComputeLagrangianObjectiveStress.h")

#include "RankFourTensor.h"
#include "RankTwoTensor.h"

registerMooseObject("MatlawApp", ComputeMatlawLagrangianObjectiveStress);

InputParameters
ComputeMatlawLagrangianObjectiveStress::validParams()
{
  InputParameters params = ComputeLagrangianObjectiveStress::validParams();
  params.addClassDescription("Small stress from a law of matlaw, integrated objectively for the Lagrangian kernels.");
  params.addRequiredParam<MaterialPropertyName>("law_stress", "Property with the stress of the law");
  params.addRequiredParam<MaterialPropertyName>("law_derivative", "Property with its derivative by the strain");
  return params;
}

ComputeMatlawLagrangianObjectiveStress::ComputeMatlawLagrangianObjectiveStress(const InputParameters & parameters)
  : ComputeLagrangianObjectiveStress(parameters),
    _law_stress(getMaterialProperty<RankTwoTensor>("law_stress")),
    _law_derivative(getMaterialProperty<RankFourTensor>("law_derivative"))
{
}

void
ComputeMatlawLagrangianObjectiveStress::computeQpSmallStress()
{
  _small_stress[_qp] = _law_stress[_qp];
  _small_jacobian[_qp] = _law_derivative[_qp];
}

#endif
