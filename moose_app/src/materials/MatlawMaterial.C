#include "MatlawMaterial.h"

#include <algorithm>
#include <mutex>

#include "MatlawBatch.h"
#include "MooseException.h"

#include "libmesh/elem.h"
#include "libmesh/quadrature.h"

#include "matlaw/errors.h"

registerMooseObject("MatlawApp", MatlawMaterial);

InputParameters
MatlawMaterial::validParams()
{
  InputParameters params = Material::validParams();
  params.addClassDescription("Publishes the outputs of a law of matlaw as material properties.");
  params.addRequiredParam<UserObjectName>("batch", "The MatlawBatch that evaluates the law");
  params.addCoupledVar("variables", "Variables that the law takes, as of the batch");
  params.addParam<bool>("always_tangent", false, "The derivatives are wanted outside of the Jacobian, too");
  return params;
}

MatlawMaterial::MatlawMaterial(const InputParameters & parameters)
  : MatlawPoints<Material>(parameters),
    _batch(getUserObject<MatlawBatch>("batch")),
    _mapping(_batch.mapping()),
    _evaluator(_batch.law(), _mapping),
    _row(_mapping.rowSize())
{
  for (const MatlawProperty & property : _mapping.properties())
    _properties.push_back(declare(property.property, property.type, property.size));
  for (const MatlawDerivative & derivative : _mapping.derivatives())
    _derivatives.push_back(declare(derivative));
  read(_mapping, _batch.rotation());
}

MatlawMaterial::Output
MatlawMaterial::declare(const std::string & name, const std::string & type, unsigned int size)
{
  Output output;
  output.rows = size;
  if (type == "Scalar")
    output.real = &declareProperty<Real>(name);
  else if (type == "SR2" || type == "R2")
    output.second = &declareProperty<RankTwoTensor>(name);
  else if (type == "SSR4")
  {
    output.rows = output.columns = 6;
    output.fourth = &declareProperty<RankFourTensor>(name);
  }
  else if (type == "Vec" || type == "Triple")
    output.vector = &declareProperty<RealVectorValue>(name);
  else
    output.numbers = &declareProperty<std::vector<Real>>(name);
  return output;
}

MatlawMaterial::Output
MatlawMaterial::declare(const MatlawDerivative & derivative)
{
  const auto second = [](const std::string & type) { return type == "SR2" || type == "R2"; };
  const auto &out = derivative.output_type, &in = derivative.input_type;
  // The type of an output with the indices of both.
  std::string type = "Tensor";
  if (in == "Scalar")
    type = out;
  else if (out == "Scalar")
    type = in;
  else if (derivative.rows == 3 && derivative.columns == 3 && out != "Tensor" && in != "Tensor")
    type = "R2";
  else if (second(out) && second(in))
    type = "SSR4";
  Output output = declare(derivative.property, type, derivative.rows * derivative.columns);
  if (output.fourth)
  {
    output.rows = derivative.rows;
    output.columns = derivative.columns;
  }
  return output;
}

void
MatlawMaterial::Output::set(unsigned int qp, const double * values) const
{
  if (real)
    (*real)[qp] = *values;
  else if (second)
    (*second)[qp] = MatlawTensors::secondOrder(values, rows);
  else if (fourth)
    (*fourth)[qp] = MatlawTensors::fourthOrder(values, rows, columns);
  else if (vector)
    (*vector)[qp] = RealVectorValue(values[0], values[1], values[2]);
  else
    (*numbers)[qp].assign(values, values + rows * columns);
}

void
MatlawMaterial::initQpStatefulProperties()
{
  for (std::size_t i = 0; i < _properties.size(); ++i)
  {
    const MatlawProperty & property = _mapping.properties()[i];
    const std::vector<double> values =
        property.stateful ? property.initial : std::vector<double>(property.size, 0.0);
    _properties[i].set(_qp, values.data());
  }
}

void
MatlawMaterial::publish(unsigned int qp, const MatlawResults & results, std::int64_t point, bool tangent)
{
  for (std::size_t i = 0; i < _properties.size(); ++i)
    _properties[i].set(qp, results.properties[i] + point * _mapping.properties()[i].size);
  if (!tangent)
    return;
  for (std::size_t i = 0; i < _derivatives.size(); ++i)
  {
    const MatlawDerivative & derivative = _mapping.derivatives()[i];
    _derivatives[i].set(qp, results.derivatives[i] + point * derivative.rows * derivative.columns);
  }
}

void
MatlawMaterial::computeProperties()
{
  // This very call is for reading what the law takes.
  if (_batch.gathering())
    return;
  const unsigned int n = _qrule->n_points();
  _rows.resize(n * _row.size());
  for (unsigned int qp = 0; qp < n; ++qp)
    readPoint(qp, _rows.data() + qp * _row.size());
  if (_t_step == 0)
  {
    beforeFirstStep(n);
    return;
  }

  const bool tangent = _fe_problem.currentlyComputingJacobian() || getParam<bool>("always_tangent");
  if (!_bnd && !_neighbor)
  {
    unsigned int found = 0;
    for (; found < n; ++found)
    {
      std::copy_n(_rows.data() + found * _row.size(), _row.size(), _row.data());
      const std::int64_t point = _batch.find(_current_elem->id(), found, _row, tangent);
      if (point < 0)
        break;
      publish(found, _batch.results(), point, tangent);
    }
    if (found == n)
      return;
  }
  evaluateHere(n, tangent);
}

void
MatlawMaterial::evaluateHere(unsigned int n, bool tangent)
{
  // A law whose parameters are set may serve one caller at a time.
  static std::mutex lock;
  std::unique_lock<std::mutex> guard(lock, std::defer_lock);
  if (std::any_of(_mapping.columns().begin(), _mapping.columns().end(),
                  [](const MatlawColumn & column) { return column.role == MatlawColumn::Role::PARAMETER; }))
    guard.lock();
  try
  {
    const auto & verdict = _evaluator.evaluate(_rows, n, tangent);
    if (!verdict.ok())
      throw MooseException(
          _batch.complaint(verdict, _evaluator, n, _current_elem->id(), verdict.failed_rows.front()));
  }
  catch (const matlaw::Exception & error)
  {
    if (!error.recoverable())
      mooseError(error.what());
    throw MooseException(error.what());
  }
  for (unsigned int qp = 0; qp < n; ++qp)
    publish(qp, _evaluator.results(), qp, tangent);
}

void
MatlawMaterial::beforeFirstStep(unsigned int n)
{
  for (unsigned int qp = 0; qp < n; ++qp)
  {
    for (std::size_t i = 0; i < _properties.size(); ++i)
    {
      const MatlawProperty & property = _mapping.properties()[i];
      std::vector<double> values(property.size, 0.0);
      // After a restart the old value is not the initial one.
      for (const MatlawColumn & column : _mapping.columns())
        if (property.stateful && column.role == MatlawColumn::Role::OLD && column.moose == property.property)
          std::copy_n(_rows.data() + qp * _row.size() + column.offset, column.size, values.data());
      _properties[i].set(qp, values.data());
    }
    for (const Output & derivative : _derivatives)
    {
      const std::vector<double> zeros(derivative.rows * derivative.columns, 0.0);
      derivative.set(qp, zeros.data());
    }
  }
}
