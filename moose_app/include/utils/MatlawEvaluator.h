// Rows of points through a law, and its results by point.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "MatlawMapping.h"

#include "matlaw/host/QuadratureBatch.h"

/// Results of a law at some points.
struct MatlawResults
{
  /// One for each of MatlawMapping::properties(): values (points, size)
  std::vector<const double *> properties;
  /// One for each of MatlawMapping::derivatives(): values (points, rows, columns); empty without tangent
  std::vector<const double *> derivatives;
};

/// A law that takes the rows that MatlawPoints reads. Its old state comes from MOOSE with every call, so it keeps none.
class MatlawEvaluator
{
public:
  MatlawEvaluator(std::shared_ptr<matlaw::Model> law, const MatlawMapping & mapping);

  /// `rows`: (n, mapping.rowSize()). Throws matlaw::FatalError for a mistake in the set-up, never for a point.
  const matlaw::host::Verdict & evaluate(const std::vector<double> & rows, std::int64_t n, bool tangent);
  /// Of the last evaluate(); valid until the next.
  const MatlawResults & results() const { return _results; }
  /// Why points of the last call failed, in the law's words.
  std::string whyFailed() const;

private:
  const std::shared_ptr<matlaw::Model> _law;
  const MatlawMapping & _mapping;
  matlaw::host::QuadratureBatch _batch;
  MatlawResults _results;
  std::vector<double> _values;
};
