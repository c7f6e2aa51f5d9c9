#include "ComputeMatlawStress.h"

registerMooseObject("MatlawApp", ComputeMatlawStress);

InputParameters
ComputeMatlawStress::validParams()
{
  InputParameters params = ComputeStressBase::validParams();
  params.addClassDescription("Stress and its derivative from a law of matlaw.");
  params.addRequiredParam<MaterialPropertyName>("law_stress", "Property with the stress of the law");
  params.addRequiredParam<MaterialPropertyName>("law_derivative", "Property with its derivative");
  params.addParam<MaterialPropertyName>("law_elastic_strain", "Property with the elastic strain, of a law that gives it");
  MooseEnum measure("SMALL CAUCHY PK1 PK2", "SMALL");
  params.addParam<MooseEnum>("stress_measure",
                             measure,
                             "SMALL for a law of the strain, else which stress a law of the deformation gradient gives");
  return params;
}

ComputeMatlawStress::ComputeMatlawStress(const InputParameters & parameters)
  : ComputeStressBase(parameters),
    _law_stress(getMaterialProperty<RankTwoTensor>("law_stress")),
    _law_derivative(getMaterialProperty<RankFourTensor>("law_derivative")),
    _measure(MatlawTensors::measure(getParam<MooseEnum>("stress_measure"))),
    _deformation_gradient(
        getParam<MooseEnum>("stress_measure") == "SMALL"
            ? nullptr
            : &getMaterialPropertyByName<RankTwoTensor>(_base_name + "deformation_gradient")),
    _law_elastic_strain(isParamValid("law_elastic_strain")
                            ? &getMaterialProperty<RankTwoTensor>("law_elastic_strain")
                            : nullptr)
{
}

void
ComputeMatlawStress::computeQpStress()
{
  _stress[_qp] = _law_stress[_qp];
  if (_law_elastic_strain)
    _elastic_strain[_qp] = (*_law_elastic_strain)[_qp];
  else
    _elastic_strain[_qp].zero();
  _Jacobian_mult[_qp] = _law_derivative[_qp];
  if (_deformation_gradient)
    MatlawTensors::toCauchy(_measure, (*_deformation_gradient)[_qp], _stress[_qp], _Jacobian_mult[_qp]);
}
