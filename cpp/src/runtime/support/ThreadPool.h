// The worker threads of this process, shared by all models.
#pragma once

#include <cstdint>
#include <functional>

namespace matlaw::support
{
/// Calls `work(task, worker)` once for each task in [0, tasks), on at most `threads` threads: this one and helpers.
///
/// `worker` is below `threads` and no two tasks run at once under the same `worker`. Tasks are handed out in
/// ascending order to whoever is free. Runs all of them here when the helpers are busy with another call or when this
/// thread is itself one of a parallel region, so calls from many host threads do not multiply threads. The first
/// exception that a task throws is thrown here, after all running tasks have ended.
void parallel_for(std::int64_t tasks, std::int64_t threads,
                  const std::function<void(std::int64_t task, std::int64_t worker)> & work);
}
