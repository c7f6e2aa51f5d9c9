// torch's number of threads, without what torch does to the host's OpenMP when it is asked for the first time.
#pragma once

#include <cstdint>

namespace matlaw::support
{
/// at::get_num_threads(). At a thread's first use of it, or of a parallel operation, torch sets OpenMP's number of
/// threads to that of its maths library; here the host's own number is put back. To be called before torch's
/// operations.
std::int64_t torch_threads();
}
