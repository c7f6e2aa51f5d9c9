// Internal forces and tangent stiffness of an element, from stresses that were computed before.
#pragma once

#include "MaterialPoints.h"

/// MFEM calls this element by element; the law was called for all of them at once before.
class StressIntegrator : public mfem::NonlinearFormIntegrator
{
public:
  explicit StressIntegrator(const MaterialPoints & points) : _points(points) {}

  void AssembleElementVector(const mfem::FiniteElement & element, mfem::ElementTransformation & map,
                             const mfem::Vector & u, mfem::Vector & force) override;
  void AssembleElementGrad(const mfem::FiniteElement & element, mfem::ElementTransformation & map,
                           const mfem::Vector & u, mfem::DenseMatrix & stiffness) override;

private:
  const MaterialPoints & _points;
};
