// The law at all quadrature points of a mesh: the only part of this program that knows matlaw.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include <matlaw/host/QuadratureBatch.h>
#include <mfem.hpp>

/// The law did not converge somewhere: the answer is a smaller step.
struct LawFailed : std::runtime_error
{
  LawFailed(std::size_t points, double factor);
  /// What the law suggests for the time step.
  double dt_factor;
};

/// Strain in, stress and tangent out, for every quadrature point of a finite-element space at once.
class MaterialPoints
{
public:
  MaterialPoints(mfem::FiniteElementSpace & space, const std::string & law, const std::string & model);

  /// The quadrature rule of an element.
  const mfem::IntegrationRule & rule(const mfem::FiniteElement & element) const;

  /// Evaluates stress and tangent at time `t` for the displacement `u`. Throws LawFailed.
  void evaluate(const mfem::Vector & u, double t);
  void commit() { _batch.commit(); }
  void revert() { _batch.revert(); }

  /// Stress, 6 Mandel components, and its derivative by strain, 6 x 6 row-major, at point `q` of element `e`.
  const double * stress(int e, int q) const { return _stress + 6 * (_first[e] + q); }
  const double * tangent(int e, int q) const { return _tangent + 36 * (_first[e] + q); }

private:
  mfem::FiniteElementSpace & _space;
  /// Number of the first point of each element, and of all points at the end.
  std::vector<int> _first;
  matlaw::host::QuadratureBatch _batch;
  bool _timed;
  std::vector<double> _strain;
  const double * _stress = nullptr;
  const double * _tangent = nullptr;
};

/// Small strain in Mandel components as a matrix, 6 x 3n, for an element's displacements in MFEM's order (all x, all
/// y, all z).
void strain_matrix(const mfem::FiniteElement & element, mfem::ElementTransformation & map,
                   const mfem::IntegrationPoint & point, mfem::DenseMatrix & b);
