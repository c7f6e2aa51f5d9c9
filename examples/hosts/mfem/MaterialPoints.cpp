#include "MaterialPoints.h"

#include <algorithm>
#include <cmath>

#include <matlaw/load_model.h>

LawFailed::LawFailed(std::size_t points, double factor)
    : std::runtime_error("the law did not converge at " + std::to_string(points) + " quadrature points"),
      dt_factor(factor)
{
}

static std::vector<int> first_points(const mfem::FiniteElementSpace & space)
{
  std::vector<int> first = {0};
  for (int e = 0; e < space.GetNE(); ++e)
  {
    const auto & element = *space.GetFE(e);
    first.push_back(first.back() + mfem::IntRules.Get(element.GetGeomType(), 2 * element.GetOrder() + 1).GetNPoints());
  }
  return first;
}

MaterialPoints::MaterialPoints(mfem::FiniteElementSpace & space, const std::string & law, const std::string & model)
    : _space(space),
      _first(first_points(space)),
      _batch(matlaw::load_model(law, model), _first.back()),
      _strain(6 * static_cast<std::size_t>(_first.back()))
{
  const auto & inputs = _batch.input_names();
  _timed = std::find(inputs.begin(), inputs.end(), "t") != inputs.end();
}

const mfem::IntegrationRule & MaterialPoints::rule(const mfem::FiniteElement & element) const
{
  return mfem::IntRules.Get(element.GetGeomType(), 2 * element.GetOrder() + 1);
}

void MaterialPoints::evaluate(const mfem::Vector & u, double t)
{
  mfem::Array<int> dofs;
  mfem::Vector local;
  mfem::DenseMatrix b;
  for (int e = 0; e < _space.GetNE(); ++e)
  {
    _space.GetElementVDofs(e, dofs);
    u.GetSubVector(dofs, local);
    const auto & element = *_space.GetFE(e);
    const auto & points = rule(element);
    for (int q = 0; q < points.GetNPoints(); ++q)
    {
      strain_matrix(element, *_space.GetElementTransformation(e), points.IntPoint(q), b);
      b.Mult(local.GetData(), &_strain[6 * static_cast<std::size_t>(_first[e] + q)]);
    }
  }

  _batch.set_input("strain", _strain);
  if (_timed)
    _batch.set_input("t", t);
  const auto & verdict = _batch.evaluate(true);
  if (!verdict.ok())
    throw LawFailed(verdict.failed_rows.size(), verdict.dt_factor);
  _stress = _batch.output("stress");
  _tangent = _batch.tangent("stress", "strain");
}

void strain_matrix(const mfem::FiniteElement & element, mfem::ElementTransformation & map,
                   const mfem::IntegrationPoint & point, mfem::DenseMatrix & b)
{
  const int n = element.GetDof();
  mfem::DenseMatrix gradient(n, 3);
  map.SetIntPoint(&point);
  element.CalcPhysDShape(map, gradient);
  const double half = std::sqrt(0.5);
  b.SetSize(6, 3 * n);
  b = 0.0;
  for (int i = 0; i < n; ++i)
  {
    const double x = gradient(i, 0);
    const double y = gradient(i, 1);
    const double z = gradient(i, 2);
    b(0, i) = x;
    b(1, n + i) = y;
    b(2, 2 * n + i) = z;
    b(3, n + i) = half * z;
    b(3, 2 * n + i) = half * y;
    b(4, i) = half * z;
    b(4, 2 * n + i) = half * x;
    b(5, i) = half * y;
    b(5, n + i) = half * x;
  }
}
