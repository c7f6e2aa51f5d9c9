// From rows of components to components of rows and back: what the boundary of every call does.
#pragma once

#include <cstdint>

namespace matlaw::runtime
{
/// to[c * ld + i] = from[i * step + c] for `rows` rows of `n` components.
template <typename Real>
void rows_to_components(const Real * from, std::int64_t step, std::int64_t n, std::int64_t rows, Real * to,
                        std::int64_t ld);

/// to[i * step + c] = from[c * ld + i]
template <typename Real>
void components_to_rows(const Real * from, std::int64_t ld, std::int64_t n, std::int64_t rows, Real * to,
                        std::int64_t step);
}
