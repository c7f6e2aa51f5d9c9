// Where a Newton solve writes down what each row does, for who wants to know.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace matlaw::solve
{
/// A solve of a row replaces what is there of that row; iterations that it does not reach are NaN. Rows that are not
/// solved are left as they are.
template <typename Real>
struct Recorder
{
  /// Row of these arrays that row i of the solve is; a null pointer: i itself
  const std::int64_t * rows = nullptr;
  /// Iterations that there is place for
  std::int64_t miters = 0;
  /// Unknowns of a row
  std::int64_t size = 0;
  /// (*, miters + 1): |r| at each iterate
  double * residual = nullptr;
  /// (*, miters): part of each Newton step that was taken
  double * step = nullptr;
  /// (*, miters + 1, size): the iterates; a null pointer where they are not wanted
  Real * iterates = nullptr;

  /// Row `row` of the solve has the residual norm `norm` at u, component c of which is u[c * ld].
  void iterate(std::int64_t row, std::int64_t iteration, double norm, const Real * u, std::int64_t ld)
  {
    if (iteration > miters)
      return;
    const auto place = rows ? rows[row] : row;
    if (iteration == 0)
      forget(place);
    const auto at = place * (miters + 1) + iteration;
    residual[at] = norm;
    for (std::int64_t c = 0; iterates && c < size; c++)
      iterates[at * size + c] = u[c * ld];
  }

  /// ... and goes `length` times its Newton step from there.
  void stepped(std::int64_t row, std::int64_t iteration, double length)
  {
    if (iteration < miters)
      step[(rows ? rows[row] : row) * miters + iteration] = length;
  }

  void forget(std::int64_t place)
  {
    constexpr auto nan = std::numeric_limits<double>::quiet_NaN();
    std::fill_n(residual + place * (miters + 1), miters + 1, nan);
    std::fill_n(step + place * miters, miters, nan);
    if (iterates)
      std::fill_n(iterates + place * (miters + 1) * size, (miters + 1) * size, Real(nan));
  }
};
}
