#include "MatlawTimeStepLimit.h"

#include <algorithm>
#include <limits>

#include "MatlawBatch.h"

registerMooseObject("MatlawApp", MatlawTimeStepLimit);

InputParameters
MatlawTimeStepLimit::validParams()
{
  InputParameters params = GeneralPostprocessor::validParams();
  params.addClassDescription("The largest next time step that laws of matlaw suggest.");
  params.addRequiredParam<std::vector<UserObjectName>>(
      "laws", "Names of [Matlaw] entries, or of MatlawBatch user objects");
  return params;
}

MatlawTimeStepLimit::MatlawTimeStepLimit(const InputParameters & parameters)
  : GeneralPostprocessor(parameters), _limit(std::numeric_limits<Real>::max())
{
  for (const auto & law : getParam<std::vector<UserObjectName>>("laws"))
    _batches.push_back(&getUserObjectByName<MatlawBatch>(law));
}

void
MatlawTimeStepLimit::execute()
{
  Real factor = 1.0;
  for (const MatlawBatch * batch : _batches)
    factor = std::min(factor, batch->dtFactor());
  comm().min(factor);
  _limit = factor < 1.0 ? factor * _dt : std::numeric_limits<Real>::max();
}

PostprocessorValue
MatlawTimeStepLimit::getValue()
{
  return _limit;
}

PostprocessorValue
MatlawTimeStepLimit::getValue() const
{
  return _limit;
}
