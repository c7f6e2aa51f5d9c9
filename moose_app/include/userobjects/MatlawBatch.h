// All quadrature points of a law on this rank, evaluated in one call.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "ElementUserObject.h"
#include "MatlawEvaluator.h"
#include "MatlawPoints.h"

/// Before each residual and Jacobian: gathers the rows of all points of its blocks, evaluates the law once, and holds the
/// results for MatlawMaterial, which looks them up by element.
///
/// Values and tangent are computed for the first residual of a Newton iteration, values only for further trial points of
/// a line search and in matrix-free solves.
///
/// A point at which the law does not converge fails the nonlinear solve on all ranks; MOOSE then cuts the step. A mistake
/// in the set-up is an error.
class MatlawBatch : public MatlawPoints<ElementUserObject>
{
public:
  static InputParameters validParams();
  MatlawBatch(const InputParameters & parameters);

  virtual void timestepSetup() override;
  virtual void initialize() override;
  virtual void execute() override;
  virtual void threadJoin(const UserObject & other) override;
  virtual void finalize() override;

  const std::shared_ptr<matlaw::Model> & law() const { return _law; }
  const MatlawMapping & mapping() const { return _mapping; }
  /// Property with the rotation increment by which old tensors are turned; empty for none.
  const std::string & rotation() const { return _rotation; }

  /// The rows are being gathered: there are no results to look up.
  bool gathering() const { return _gathering; }
  /// Results of the point, or -1 where there are none for exactly this row.
  std::int64_t find(libMesh::dof_id_type element, unsigned int qp, const std::vector<double> & row, bool tangent) const;
  const MatlawResults & results() const { return _evaluator->results(); }

  /// Smallest factor that the law suggests for the next time step, over the points of this rank.
  Real dtFactor() const { return _dt_factor; }

  /// "law 'steel' did not converge at 3 of 64 quadrature points: element 12, point 4: ..."
  std::string complaint(const matlaw::host::Verdict & verdict, const MatlawEvaluator & evaluator, std::int64_t n,
                        libMesh::dof_id_type element, unsigned int qp) const;

private:
  struct Points
  {
    libMesh::dof_id_type element;
    std::int64_t first;
    unsigned int n;
  };

  bool wantsTangent();
  void evaluate(bool tangent);

  const std::shared_ptr<matlaw::Model> _law;
  const MatlawMapping _mapping;
  const std::string _rotation;

  std::unique_ptr<MatlawEvaluator> _evaluator;
  std::vector<Points> _elements;
  std::vector<double> _rows;
  /// Rows that the results are for
  std::vector<double> _evaluated_rows;
  std::unordered_map<libMesh::dof_id_type, Points> _places;
  bool _gathering = false;
  bool _has_results = false;
  bool _has_tangent = false;
  /// Residuals since the last Jacobian
  unsigned int _residuals = 0;
  Real _dt_factor = 1.0;
};
