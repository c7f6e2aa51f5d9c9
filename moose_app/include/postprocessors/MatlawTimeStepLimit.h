// The time step that the laws suggest.
#pragma once

#include <vector>

#include "GeneralPostprocessor.h"

class MatlawBatch;

/// Largest next time step that laws suggest, for `timestep_limiting_postprocessor` of IterationAdaptiveDT: the last step
/// times the smallest factor over all points of all ranks, and a number that limits nothing where no point struggled.
class MatlawTimeStepLimit : public GeneralPostprocessor
{
public:
  static InputParameters validParams();
  MatlawTimeStepLimit(const InputParameters & parameters);

  virtual void initialize() override {}
  virtual void execute() override;

  // MOOSE made this function const in the meantime: one of the two is its virtual function.
  PostprocessorValue getValue();
  PostprocessorValue getValue() const;

private:
  std::vector<const MatlawBatch *> _batches;
  Real _limit;
};
