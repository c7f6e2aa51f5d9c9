#include "support/torch_threads.h"

#include <ATen/Parallel.h>

// Of the OpenMP runtime that torch brought along, where it did.
extern "C"
{
  int omp_get_max_threads() __attribute__((weak));
  void omp_set_num_threads(int) __attribute__((weak));
}

namespace matlaw::support
{
std::int64_t torch_threads()
{
  if (!omp_get_max_threads || !omp_set_num_threads)
    return at::get_num_threads();
  const int before = omp_get_max_threads();
  at::get_num_threads();
  if (omp_get_max_threads() != before)
    omp_set_num_threads(before);
  return at::get_num_threads();
}
}
