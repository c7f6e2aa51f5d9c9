#include "MatlawEvaluator.h"

#include <algorithm>

MatlawEvaluator::MatlawEvaluator(std::shared_ptr<matlaw::Model> law, const MatlawMapping & mapping)
  : _law(law), _mapping(mapping), _batch(law, 0)
{
}

const matlaw::host::Verdict &
MatlawEvaluator::evaluate(const std::vector<double> & rows, std::int64_t n, bool tangent)
{
  if (_batch.n_points() != n)
    _batch.resize(n);
  for (const MatlawColumn & column : _mapping.columns())
  {
    _values.resize(n * column.size);
    for (std::int64_t i = 0; i < n; ++i)
      std::copy_n(rows.data() + i * _mapping.rowSize() + column.offset, column.size, _values.data() + i * column.size);
    const matlaw::Span<const double> values(_values.data(), _values.size());
    switch (column.role)
    {
      case MatlawColumn::Role::INPUT:
        _batch.set_input(column.name, values);
        break;
      case MatlawColumn::Role::OLD:
        _batch.set_state(column.name, values);
        break;
      case MatlawColumn::Role::PARAMETER:
        _batch.set_parameter(column.name, values);
        break;
    }
  }
  const auto & verdict = _batch.evaluate(tangent);
  _results = {};
  for (const MatlawProperty & property : _mapping.properties())
    _results.properties.push_back(_batch.output(property.output));
  if (tangent && verdict.ok())
    for (const MatlawDerivative & derivative : _mapping.derivatives())
      _results.derivatives.push_back(_batch.tangent(derivative.output, derivative.input));
  return verdict;
}

std::string
MatlawEvaluator::whyFailed() const
{
  return matlaw::host::why_failed(*_law);
}
