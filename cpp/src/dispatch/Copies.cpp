#include "Copies.h"

#include <chrono>
#include <string>
#include <utility>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>

#include "Progress.h"
#include "matlaw/logging.h"
#include "support/text.h"

namespace matlaw::dispatch
{
using logging::Channel;
using logging::Level;

static void say_devices(const std::string & law, const std::vector<DeviceConfig> & devices)
{
  if (!logging::enabled(Channel::dispatch, Level::info))
    return;
  std::string text = "Model '" + law + "' on " + std::to_string(devices.size()) + " device(s):";
  for (const auto & config : devices)
    text += " " + config.device.str() + " (chunks of " +
            (config.chunk_rows ? std::to_string(config.chunk_rows) : std::string("all")) + " rows, holds " +
            (config.capacity ? std::to_string(config.capacity) + " rows" : std::string("two chunks")) + ", priority " +
            support::number_text(config.priority) + ")";
  logging::write(Channel::dispatch, Level::info, text + ".");
}

Copies::Copies(std::shared_ptr<const Scheduler> scheduler, const DispatchedModel::Loader & load)
    : _scheduler(std::move(scheduler))
{
  if (!_scheduler)
    throw FatalError("DispatchedModel: the scheduler is a null pointer.");
  for (const auto & config : _scheduler->devices())
  {
    _copies.push_back(load(config.device));
    if (!_copies.back())
      throw FatalError("DispatchedModel: the loader gave no law for device " + config.device.str() + ".");
    const auto & copy = *_copies.back();
    const auto & first = *_copies.front();
    const auto subject = "The copy of model '" + copy.name() + "' for device " + config.device.str() + " ";
    if (copy.device().type() != config.device.type())
      throw FatalError(subject + "is on " + copy.device().str() + ".");
    if (copy.name() != first.name() || copy.input_names() != first.input_names() ||
        copy.output_names() != first.output_names() || copy.dtype() != first.dtype() ||
        copy.named_parameters().size() != first.named_parameters().size())
      throw FatalError(subject + "differs from the first one in name, variables, parameters or dtype.");
  }
  _pool.reset(new WorkerPool(_scheduler));
  say_devices(_copies.front()->name(), _scheduler->devices());
}

void Copies::run(std::int64_t rows, const RowSplit & row_parameters, const std::function<void(const Chunk &)> & action)
{
  Progress progress;
  {
    const WaitAtExit wait{progress};
    std::int64_t first = 0;
    do
    {
      const auto assignment = _pool->reserve(rows - first);
      if (progress.cancelled())
      {
        _pool->release(assignment);
        break;
      }
      const Chunk chunk{first, assignment.rows, assignment.device, _scheduler->devices()[assignment.device].device,
                        *_copies[assignment.device]};
      progress.begin();
      try
      {
        _pool->start(assignment,
                     [this, chunk, &progress, &row_parameters, &action]
                     {
                       run_chunk(chunk, progress, row_parameters, action);
                       progress.end();
                     });
      }
      catch (...)
      {
        _pool->release(assignment);
        progress.cancel();
        progress.end();
        throw;
      }
      first += assignment.rows;
    } while (first < rows);
  }
  if (auto failures = progress.failures(); !failures.empty())
    throw AggregateError(_copies.front()->name(), std::move(failures));
}

void Copies::run_chunk(const Chunk & chunk, Progress & progress, const RowSplit & row_parameters,
                       const std::function<void(const Chunk &)> & action) noexcept
{
  if (progress.cancelled())
    return;
  const auto say = [&](Level level, const auto & text)
  {
    if (logging::enabled(Channel::dispatch, level))
      logging::write(Channel::dispatch, level,
                     "Model '" + chunk.law.name() + "': rows " + std::to_string(chunk.first) + " to " +
                         std::to_string(chunk.first + chunk.rows - 1) + " on " + chunk.device.str() + " (worker " +
                         std::to_string(chunk.number) + ")" + text() + ".");
  };
  const auto fail = [&](const char * message, bool fatal)
  {
    say(Level::info, [&] { return std::string(" failed: ") + message; });
    progress.fail({chunk.device.str(), chunk.first, chunk.rows, message, std::current_exception()}, fatal);
  };
  try
  {
    const at::NoGradGuard no_grad;
    const auto start = std::chrono::steady_clock::now();
    // Only this thread uses this copy.
    for (const auto & [name, value] : row_parameters.chunk(chunk.first, chunk.rows, chunk.device))
      _copies[chunk.number]->set_parameter(name, value);
    action(chunk);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    say(Level::debug, [&] { return " took " + support::number_text(took.count()) + " ms"; });
  }
  catch (const ConvergenceError & e)
  {
    fail(e.what(), false);
  }
  catch (const c10::Error & e)
  {
    fail(e.what_without_backtrace(), true);
  }
  catch (const std::exception & e)
  {
    fail(e.what(), true);
  }
  catch (...)
  {
    fail("an exception that is no std::exception", true);
  }
}
}
