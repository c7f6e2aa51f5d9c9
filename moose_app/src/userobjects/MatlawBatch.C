#include "MatlawBatch.h"

#include <cstring>

#include "MooseMesh.h"
#include "SolverParams.h"

#include "libmesh/elem.h"
#include "libmesh/quadrature.h"

#include "matlaw/errors.h"

registerMooseObject("MatlawApp", MatlawBatch);

namespace
{
std::shared_ptr<matlaw::Model>
load(const InputParameters & parameters, const std::string & name)
{
  try
  {
    return MatlawMapping::law(parameters);
  }
  catch (const matlaw::Exception & error)
  {
    ::mooseError(name, ": the law cannot be loaded: ", error.what());
  }
}

MatlawMapping
map(const InputParameters & parameters, const matlaw::Model & law, const std::string & name)
{
  try
  {
    return MatlawMapping(parameters, matlaw::host::describe(law));
  }
  catch (const std::invalid_argument & error)
  {
    ::mooseError(name, ": ", error.what());
  }
}
}

InputParameters
MatlawBatch::validParams()
{
  InputParameters params = ElementUserObject::validParams();
  params += MatlawMapping::lawParams();
  params += MatlawMapping::mappingParams();
  params.addClassDescription("Evaluates a law of matlaw at all quadrature points of its blocks in one call.");
  params.addCoupledVar("variables", "Variables among moose_inputs and moose_parameters");
  params.addParam<std::string>("rotation", "", "Property with the rotation increment by which old tensors are turned");
  params.addParam<bool>("always_tangent", false, "Compute the derivatives with every residual: they are properties");
  params.set<ExecFlagEnum>("execute_on", true) = {EXEC_LINEAR, EXEC_NONLINEAR};
  return params;
}

MatlawBatch::MatlawBatch(const InputParameters & parameters)
  : MatlawPoints<ElementUserObject>(parameters),
    _law(load(parameters, name())),
    _mapping(map(parameters, *_law, name())),
    _rotation(getParam<std::string>("rotation"))
{
  read(_mapping, _rotation);
  // The other threads only gather.
  if (_tid == 0)
    _evaluator = std::make_unique<MatlawEvaluator>(_law, _mapping);
}

void
MatlawBatch::timestepSetup()
{
  _residuals = 0;
}

void
MatlawBatch::initialize()
{
  _gathering = true;
  _elements.clear();
  _rows.clear();
}

void
MatlawBatch::execute()
{
  const unsigned int n = _qrule->n_points();
  const std::size_t size = _mapping.rowSize();
  const std::size_t first = _rows.size();
  _elements.push_back({_current_elem->id(), static_cast<std::int64_t>(size ? first / size : 0), n});
  _rows.resize(first + n * size);
  for (unsigned int qp = 0; qp < n; ++qp)
    readPoint(qp, _rows.data() + first + qp * size);
}

void
MatlawBatch::threadJoin(const UserObject & other)
{
  const auto & from = static_cast<const MatlawBatch &>(other);
  const std::int64_t shift = _elements.empty() ? 0 : _elements.back().first + _elements.back().n;
  for (Points points : from._elements)
  {
    points.first += shift;
    _elements.push_back(points);
  }
  _rows.insert(_rows.end(), from._rows.begin(), from._rows.end());
}

bool
MatlawBatch::wantsTangent()
{
  if (_fe_problem.getCurrentExecuteOnFlag() == EXEC_NONLINEAR)
  {
    _residuals = 0;
    return true;
  }
  // A residual that follows a residual is a trial point of a line search.
  const auto type = _fe_problem.solverParams()._type;
  return getParam<bool>("always_tangent") || (_residuals++ == 0 && type == Moose::ST_NEWTON);
}

void
MatlawBatch::finalize()
{
  _gathering = false;
  const bool tangent = wantsTangent();
  const bool same = _has_results && _rows.size() == _evaluated_rows.size() && _elements.size() == _places.size() &&
                    std::memcmp(_rows.data(), _evaluated_rows.data(), _rows.size() * sizeof(double)) == 0;
  // All ranks evaluate or none: at the end they tell each other whether the law converged.
  bool stale = !same || (tangent && !_has_tangent);
  comm().max(stale);
  if (stale)
    evaluate(tangent);
}

void
MatlawBatch::evaluate(bool tangent)
{
  _has_results = false;
  _evaluated_rows = _rows;
  _places.clear();
  std::int64_t n = 0;
  for (const Points & points : _elements)
  {
    _places[points.element] = points;
    n += points.n;
  }

  std::string message;
  try
  {
    const auto & verdict = _evaluator->evaluate(_evaluated_rows, n, tangent);
    _dt_factor = verdict.dt_factor;
    if (!verdict.ok())
    {
      const std::int64_t row = verdict.failed_rows.front();
      for (const Points & points : _elements)
        if (points.first <= row && row < points.first + points.n)
          message = complaint(verdict, *_evaluator, n, points.element, row - points.first);
    }
  }
  catch (const matlaw::Exception & error)
  {
    if (!error.recoverable())
      mooseError(error.what());
    message = error.what();
  }
  // Every rank learns of it, so that all of them leave the residual together.
  bool failed = !message.empty();
  comm().max(failed);
  if (failed)
  {
    _fe_problem.setException(message.empty() ? "law '" + name() + "' did not converge on another rank" : message);
    return;
  }
  _has_results = true;
  _has_tangent = tangent;
}

std::int64_t
MatlawBatch::find(libMesh::dof_id_type element, unsigned int qp, const std::vector<double> & row, bool tangent) const
{
  if (!_has_results || (tangent && !_has_tangent))
    return -1;
  const auto place = _places.find(element);
  if (place == _places.end() || qp >= place->second.n)
    return -1;
  const std::int64_t point = place->second.first + qp;
  const std::size_t size = _mapping.rowSize();
  const bool same = std::memcmp(_evaluated_rows.data() + point * size, row.data(), size * sizeof(double)) == 0;
  return same ? point : -1;
}

std::string
MatlawBatch::complaint(const matlaw::host::Verdict & verdict, const MatlawEvaluator & evaluator, std::int64_t n,
                       libMesh::dof_id_type element, unsigned int qp) const
{
  const std::string why = evaluator.whyFailed();
  return "law '" + name() + "' did not converge at " + std::to_string(verdict.failed_rows.size()) + " of " +
         std::to_string(n) + " quadrature points; element " + std::to_string(element) + ", point " +
         std::to_string(qp) + (why.empty() ? "" : ": " + why);
}
