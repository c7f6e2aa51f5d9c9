#include "solve_small.h"

#include <algorithm>
#include <cmath>

namespace matlaw::umat
{
bool solve_small(int n, double * A, double * b, int m)
{
  for (int k = 0; k < n; k++)
  {
    int pivot = k;
    for (int i = k + 1; i < n; i++)
      if (std::abs(A[i * n + k]) > std::abs(A[pivot * n + k]))
        pivot = i;
    if (!(std::abs(A[pivot * n + k]) > 0.0))
      return false;
    if (pivot != k)
    {
      std::swap_ranges(A + k * n, A + (k + 1) * n, A + pivot * n);
      std::swap_ranges(b + k * m, b + (k + 1) * m, b + pivot * m);
    }
    for (int i = k + 1; i < n; i++)
    {
      const double factor = A[i * n + k] / A[k * n + k];
      for (int j = k; j < n; j++)
        A[i * n + j] -= factor * A[k * n + j];
      for (int j = 0; j < m; j++)
        b[i * m + j] -= factor * b[k * m + j];
    }
  }
  for (int k = n - 1; k >= 0; k--)
    for (int j = 0; j < m; j++)
    {
      for (int i = k + 1; i < n; i++)
        b[k * m + j] -= A[k * n + i] * b[i * m + j];
      b[k * m + j] /= A[k * n + k];
    }
  return true;
}
}
