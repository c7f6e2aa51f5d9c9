// The linear systems of stress-free components.
#pragma once

namespace matlaw::umat
{
/// A x = b for a small matrix, by elimination with row pivots; `b` receives x. `m` right-hand sides. False when
/// singular.
bool solve_small(int n, double * A, double * b, int m);
}
