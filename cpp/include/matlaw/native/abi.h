// The C interface of a native kernel: one shared library per graph (docs/architecture.md, section 4).
#pragma once

#include <cstdint>

namespace matlaw::native
{
/// Version of this interface. A kernel built for another version is refused at load.
inline constexpr std::int32_t abi_version = 1;

/// Rows are handed to kernels in whole blocks of this many; a kernel's own lane count divides it.
inline constexpr std::int64_t row_block = 8;

/// Signature of the symbol `matlaw_graph`.
///
/// Component c (row-major over (*base, *sub_batch)) of slot k, row i, is `((real *)slot[k])[c * ld + i]`.
/// Pointers are aligned to row_block elements (64 bytes for double); ld and rows are multiples of row_block.
using GraphFunction = void (*)(const void * const * inputs, void * const * outputs, std::int64_t ld, std::int64_t rows);
}
