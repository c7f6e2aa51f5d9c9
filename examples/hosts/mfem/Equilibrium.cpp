#include "Equilibrium.h"

#include "StressIntegrator.h"

Equilibrium::Equilibrium(mfem::FiniteElementSpace & space, MaterialPoints & points, const mfem::Array<int> & prescribed)
    : mfem::Operator(space.GetTrueVSize()),
      _points(points),
      _prescribed(prescribed),
      _form(&space),
      _forces(space.GetTrueVSize())
{
  _form.AddDomainIntegrator(new StressIntegrator(points)); // the form owns it
}

void Equilibrium::Mult(const mfem::Vector & u, mfem::Vector & residual) const
{
  _points.evaluate(u, _time);
  _form.Mult(u, _forces);
  residual = _forces;
  residual.SetSubVector(_prescribed, 0.0);
}

mfem::Operator & Equilibrium::GetGradient(const mfem::Vector & u) const
{
  auto & stiffness = dynamic_cast<mfem::SparseMatrix &>(_form.GetGradient(u));
  for (const int dof : _prescribed)
    stiffness.EliminateRowCol(dof, mfem::Operator::DIAG_ONE);
  return stiffness;
}
