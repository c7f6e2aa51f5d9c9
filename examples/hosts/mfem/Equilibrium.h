// Static equilibrium as MFEM's Newton solver sees it.
#pragma once

#include "MaterialPoints.h"

/// r(u) = internal forces of the free degrees of freedom; zero where the displacement is prescribed.
class Equilibrium : public mfem::Operator
{
public:
  Equilibrium(mfem::FiniteElementSpace & space, MaterialPoints & points, const mfem::Array<int> & prescribed);

  void set_time(double t) { _time = t; }
  /// Calls the law for all points, once, then assembles. Throws LawFailed.
  void Mult(const mfem::Vector & u, mfem::Vector & residual) const override;
  /// The exact derivative of the last Mult().
  mfem::Operator & GetGradient(const mfem::Vector & u) const override;
  /// Internal forces of the last Mult(), with those where the displacement is prescribed: the reactions.
  const mfem::Vector & internal_forces() const { return _forces; }

private:
  MaterialPoints & _points;
  const mfem::Array<int> & _prescribed;
  mutable mfem::NonlinearForm _form;
  mutable mfem::Vector _forces;
  double _time = 0.0;
};
