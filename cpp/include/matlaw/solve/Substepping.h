// Adaptive substepping: an increment that a law cannot take at once is taken in parts, every row on its own.
#pragma once

#include <cstdint>
#include <vector>

#include "matlaw/solve/Newton.h"

namespace matlaw::solve
{
/// How the inputs of a law move over an increment. Offsets count the components of all inputs, or of all outputs, one
/// below the other.
struct Increment
{
  /// An input that goes from its old to its new value linearly; the old one is an input too.
  struct Ramp
  {
    std::int64_t current = 0, old = 0, size = 0;
  };
  /// An old value: at first as given, then what its variable was in the substep before.
  struct Carry
  {
    std::int64_t old = 0;
    /// Whether the variable is an output; else it is an input
    bool of_output = false;
    std::int64_t current = 0, size = 0;
  };
  std::int64_t inputs = 0, outputs = 0;
  std::vector<Ramp> ramps;
  /// All are moved at once. Inputs that are in neither list are held.
  std::vector<Carry> carries;
};

/// A law that is evaluated for some rows over one substep.
///
/// Component c of row i of an array is at `array[c * ld + i]`; rows past those asked for are padding, copies of the
/// last. A derivative (size, columns) is by the same seeds for all variables; its component (i, j) is number i *
/// columns + j.
template <typename Real>
class LawStep
{
public:
  virtual ~LawStep() = default;

  /// `rows` says which rows of the whole these are (parameters are the law's own business). Derivatives are null when
  /// none are wanted. What is written of a row that does not converge is not looked at.
  virtual void run(const std::vector<std::int32_t> & rows, std::int64_t ld, const Real * inputs,
                   const Real * input_derivatives, Real * outputs, Real * output_derivatives,
                   RowVerdict * verdicts) = 0;
};

/// What substepping says of one row.
struct SubstepVerdict
{
  Status status = Status::NOT_CONVERGED;
  /// Those that were completed
  std::int32_t substeps = 0;
  /// Of all solves, in vain or not
  std::int32_t iterations = 0;
  /// Of the last solve
  double residual = 0.0;
  double dt_factor = 1.0;
};

/// Takes the increment of rows that could not take it at once, each in substeps of 2^-1 to 2^-max_substepping_level.
///
/// A substep that fails is halved; one that was easy may be followed by one of twice its size. Where a row stands is a
/// whole number of the smallest substeps, and a substep of size s begins at a multiple of s: so the last one ends
/// exactly at the end of the increment, with the inputs as given. A row is treated as if it were alone.
///
/// Derivatives of the inputs by any seeds go in, `columns` of them (none: null pointers), and those of the outputs
/// after the last substep come out: the exact ones of the chain of substeps, through ramped inputs and carried values.
/// Outputs and derivatives of a row that fails are left alone.
template <typename Real>
void substep(LawStep<Real> & law, const Increment & increment, const NewtonConfig & config, std::int64_t ld,
             std::int64_t rows, const Real * inputs, Real * outputs, std::int64_t columns,
             const Real * input_derivatives, Real * output_derivatives, SubstepVerdict * verdicts);

extern template void substep<double>(LawStep<double> &, const Increment &, const NewtonConfig &, std::int64_t,
                                     std::int64_t, const double *, double *, std::int64_t, const double *, double *,
                                     SubstepVerdict *);
extern template void substep<float>(LawStep<float> &, const Increment &, const NewtonConfig &, std::int64_t,
                                    std::int64_t, const float *, float *, std::int64_t, const float *, float *,
                                    SubstepVerdict *);
}
