// The numbers that a quadrature point hands to its law, read through the interfaces of a MOOSE object.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "FEProblemBase.h"
#include "Function.h"
#include "MatlawMapping.h"
#include "MatlawTensors.h"
#include "MooseVariableFE.h"
#include "RankTwoTensor.h"

/// A MOOSE object (a Material, an ElementUserObject) that reads the row of a point.
template <typename Base>
class MatlawPoints : public Base
{
public:
  MatlawPoints(const InputParameters & parameters) : Base(parameters) {}

protected:
  /// Asks MOOSE for everything that the law takes. `rotation`: name of the property with the rotation increment, by
  /// which old tensors are turned; empty for none.
  void read(const MatlawMapping & mapping, const std::string & rotation);

  /// Writes the row of a point, mapping.rowSize() numbers.
  void readPoint(unsigned int qp, double * row) const;

private:
  struct Reader
  {
    MatlawColumn column;
    const MaterialProperty<Real> * real = nullptr;
    const MaterialProperty<RankTwoTensor> * tensor = nullptr;
    const MaterialProperty<RealVectorValue> * vector = nullptr;
    const MaterialProperty<std::vector<Real>> * numbers = nullptr;
    const VariableValue * variable = nullptr;
    const Function * function = nullptr;
    /// A postprocessor or the time
    const Real * everywhere = nullptr;
  };

  template <typename T>
  const MaterialProperty<T> & property(const MatlawColumn & column)
  {
    return column.old ? this->template getMaterialPropertyOldByName<T>(column.moose)
                      : this->template getMaterialPropertyByName<T>(column.moose);
  }

  void readProperty(Reader & reader);
  const VariableValue & variable(const MatlawColumn & column);

  std::vector<Reader> _readers;
  const MaterialProperty<RankTwoTensor> * _turn = nullptr;
  const FEProblemBase * _moose_problem = nullptr;
};

template <typename Base>
void
MatlawPoints<Base>::read(const MatlawMapping & mapping, const std::string & rotation)
{
  auto & problem = *this->template getCheckedPointerParam<FEProblemBase *>("_fe_problem_base");
  _moose_problem = &problem;
  if (!rotation.empty())
    _turn = &this->template getMaterialPropertyByName<RankTwoTensor>(rotation);
  for (const MatlawColumn & column : mapping.columns())
  {
    Reader reader;
    reader.column = column;
    switch (column.source)
    {
      case MatlawSource::MATERIAL:
        readProperty(reader);
        break;
      case MatlawSource::VARIABLE:
        reader.variable = &variable(column);
        break;
      case MatlawSource::FUNCTION:
        reader.function = &this->getFunctionByName(column.moose);
        break;
      case MatlawSource::POSTPROCESSOR:
        reader.everywhere = column.old ? &this->getPostprocessorValueOldByName(column.moose)
                                       : &this->getPostprocessorValueByName(column.moose);
        break;
      case MatlawSource::TIME:
        reader.everywhere = column.old ? &problem.timeOld() : &problem.time();
        break;
    }
    _readers.push_back(reader);
  }
}

template <typename Base>
void
MatlawPoints<Base>::readProperty(Reader & reader)
{
  const auto & type = reader.column.type;
  if (type == "Scalar")
    reader.real = &property<Real>(reader.column);
  else if (type == "SR2" || type == "R2")
    reader.tensor = &property<RankTwoTensor>(reader.column);
  else if (type == "Vec" || type == "Triple")
    reader.vector = &property<RealVectorValue>(reader.column);
  else
    reader.numbers = &property<std::vector<Real>>(reader.column);
}

template <typename Base>
const VariableValue &
MatlawPoints<Base>::variable(const MatlawColumn & column)
{
  const unsigned int n = this->coupledComponents("variables");
  for (unsigned int i = 0; i < n; ++i)
    if (this->getVar("variables", i)->name() == column.moose)
      return column.old ? this->coupledValueOld("variables", i) : this->coupledValue("variables", i);
  this->paramError("variables", "the variable '", column.moose, "' for the law's '", column.name, "' is missing");
}

template <typename Base>
void
MatlawPoints<Base>::readPoint(unsigned int qp, double * row) const
{
  for (const Reader & reader : _readers)
  {
    double * to = row + reader.column.offset;
    const bool turn = _turn && reader.column.old;
    if (reader.real)
      *to = (*reader.real)[qp];
    else if (reader.tensor)
    {
      RankTwoTensor tensor = (*reader.tensor)[qp];
      if (turn)
        tensor = (*_turn)[qp] * tensor * (*_turn)[qp].transpose();
      if (reader.column.type == "SR2")
        MatlawTensors::toMandel(tensor, to);
      else
        MatlawTensors::toFull(tensor, to);
    }
    else if (reader.vector)
    {
      // A spin or a set of rotation parameters is the law's own business.
      const bool turn_vector = turn && reader.column.type == "Vec";
      RealVectorValue vector = (*reader.vector)[qp];
      if (turn_vector)
        vector = (*_turn)[qp] * vector;
      for (unsigned int i = 0; i < 3; ++i)
        to[i] = vector(i);
    }
    else if (reader.numbers)
    {
      const auto & numbers = (*reader.numbers)[qp];
      if (numbers.size() != reader.column.size)
        this->mooseError("the property '", reader.column.moose, "' has ", numbers.size(), " numbers, '",
                         reader.column.name, "' of the law has ", reader.column.size);
      std::copy(numbers.begin(), numbers.end(), to);
    }
    else if (reader.variable)
      *to = (*reader.variable)[qp];
    else if (reader.function)
      *to = reader.function->value(reader.column.old ? _moose_problem->timeOld() : _moose_problem->time(),
                                   this->_q_point[qp]);
    else
      *to = *reader.everywhere;
  }
}
