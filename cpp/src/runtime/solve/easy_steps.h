// When steps by a kernel of the law itself are given up.
#pragma once

#include <cstdint>

namespace matlaw::solve
{
/// After so many steps by a system's own kernel a row has to halve its residual each time, or is solved with pivoting
/// from then on.
inline constexpr std::int64_t easy_steps = 6;
}
