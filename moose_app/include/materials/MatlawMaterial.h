// The outputs of a law as material properties.
#pragma once

#include <memory>
#include <vector>

#include "Material.h"
#include "MatlawEvaluator.h"
#include "MatlawPoints.h"

class MatlawBatch;

/// Publishes every output of the law of a MatlawBatch, and the derivatives asked for, as properties: Real, RankTwoTensor,
/// RankFourTensor, RealVectorValue, or std::vector<Real> for anything else. An output whose old value the law takes is
/// stateful, so that MOOSE keeps its history.
///
/// Values come from the batch where it was evaluated for exactly what the point has now. Everywhere else, on sides and
/// where a property is wanted outside of the solve, the points of the element are evaluated here. Before the first time
/// step state has its initial value and all else is zero.
class MatlawMaterial : public MatlawPoints<Material>
{
public:
  static InputParameters validParams();
  MatlawMaterial(const InputParameters & parameters);

  virtual void computeProperties() override;

protected:
  virtual void initQpStatefulProperties() override;

private:
  struct Output
  {
    MaterialProperty<Real> * real = nullptr;
    MaterialProperty<RankTwoTensor> * second = nullptr;
    MaterialProperty<RankFourTensor> * fourth = nullptr;
    MaterialProperty<RealVectorValue> * vector = nullptr;
    MaterialProperty<std::vector<Real>> * numbers = nullptr;
    unsigned int rows = 1, columns = 1;
    void set(unsigned int qp, const double * values) const;
  };

  Output declare(const std::string & name, const std::string & type, unsigned int size);
  Output declare(const MatlawDerivative & derivative);
  void publish(unsigned int qp, const MatlawResults & results, std::int64_t point, bool tangent);
  void evaluateHere(unsigned int n, bool tangent);
  void beforeFirstStep(unsigned int n);

  const MatlawBatch & _batch;
  const MatlawMapping & _mapping;
  std::vector<Output> _properties;
  std::vector<Output> _derivatives;
  /// For points that the batch does not have
  MatlawEvaluator _evaluator;
  std::vector<double> _row;
  std::vector<double> _rows;
};
