// The C interface of a native kernel: one shared library per graph (docs/architecture.md, section 4).
#pragma once

#include <cstdint>

namespace matlaw::native
{
/// Version of this interface. A kernel built for another version is refused at load.
inline constexpr std::int32_t abi_version = 2;

/// Rows are handed to kernels in whole blocks of this many; a kernel's own lane count divides it.
inline constexpr std::int64_t row_block = 8;

/// Signature of the symbol `matlaw_graph`.
///
/// Component c (row-major over (*base, *sub_batch)) of slot k, row i, is `((real *)slot[k])[c * ld + i]`.
/// Pointers are aligned to row_block elements (64 bytes for double); ld and rows are multiples of row_block.
using GraphFunction = void (*)(const void * const * inputs, void * const * outputs, std::int64_t ld, std::int64_t rows);

/// Where a caller has the rows of a slot: component c (row-major over (*base, *sub_batch)) of row i is
/// `((real *)data)[i * row + c * component]`.
struct Place
{
  void * data;
  std::int64_t row, component;
};

/// Signature of the symbol `matlaw_in_place`, which small kernels may have besides: the graph on rows that stand
/// anywhere, with any alignment. `rows` is a multiple of row_block.
///
/// Returns 1 when all inputs and outputs are finite. It may return 0 for finite ones whose sums overflow.
using InPlaceFunction = std::int32_t (*)(const Place * inputs, const Place * outputs, std::int64_t rows);

/// Signature of the symbol `matlaw_solve`, which a kernel of Newton steps may have besides: Newton's method with full
/// steps, from start to end.
///
/// `inputs` are those of the graph, without the unknowns, whose places are not looked at. `unknowns`, (n, ld), holds
/// the first guess, and the solution of rows that are done. `report`, (4, ld): norm of the residual at the guess; the
/// last one; iterations; 1 for a row that is done after at most `most` steps, from limits[2] steps on with half the
/// residual after each: its residual is below limits[0]; or below limits[1] times the first, after a step du with
/// |du| < limits[3] (|u| + limits[0]), or with |du| < limits[4] (|u| + limits[0]) that took it to a hundredth. Other
/// rows keep their guess: they are to be solved with pivoting, or not at all. `rows` may be any number up to `ld`.
using SolveFunction = void (*)(const void * const * inputs, void * unknowns, void * report, const double * limits,
                               std::int64_t most, std::int64_t ld, std::int64_t rows);
}
