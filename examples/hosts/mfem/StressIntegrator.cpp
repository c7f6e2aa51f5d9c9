#include "StressIntegrator.h"

void StressIntegrator::AssembleElementVector(const mfem::FiniteElement & element, mfem::ElementTransformation & map,
                                             const mfem::Vector &, mfem::Vector & force)
{
  mfem::DenseMatrix b;
  force.SetSize(3 * element.GetDof());
  force = 0.0;
  const auto & rule = _points.rule(element);
  for (int q = 0; q < rule.GetNPoints(); ++q)
  {
    strain_matrix(element, map, rule.IntPoint(q), b);
    const mfem::Vector stress(const_cast<double *>(_points.stress(map.ElementNo, q)), 6);
    b.AddMultTranspose_a(rule.IntPoint(q).weight * map.Weight(), stress, force);
  }
}

void StressIntegrator::AssembleElementGrad(const mfem::FiniteElement & element, mfem::ElementTransformation & map,
                                           const mfem::Vector &, mfem::DenseMatrix & stiffness)
{
  const int n = 3 * element.GetDof();
  mfem::DenseMatrix b;
  mfem::DenseMatrix tangent(6);
  mfem::DenseMatrix weighted(6, n);
  stiffness.SetSize(n);
  stiffness = 0.0;
  const auto & rule = _points.rule(element);
  for (int q = 0; q < rule.GetNPoints(); ++q)
  {
    strain_matrix(element, map, rule.IntPoint(q), b);
    const double * rows = _points.tangent(map.ElementNo, q);
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 6; ++j)
        tangent(i, j) = rule.IntPoint(q).weight * map.Weight() * rows[6 * i + j];
    mfem::Mult(tangent, b, weighted);
    mfem::AddMultAtB(b, weighted, stiffness);
  }
}
