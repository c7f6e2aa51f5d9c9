#include "matlaw/dispatch/AggregateError.h"

namespace matlaw::dispatch
{
static std::string text_of(const std::string & model, const std::vector<ChunkFailure> & failures)
{
  std::string text = "Model '" + model + "': " + std::to_string(failures.size()) +
                     (failures.size() == 1 ? " chunk" : " chunks") + " of the call failed.";
  for (std::size_t i = 0; i < failures.size(); i++)
  {
    if (i == 5)
      return text + " ...";
    const auto & failure = failures[i];
    text += " On " + failure.device + ", rows " + std::to_string(failure.first_row) + " to " +
            std::to_string(failure.first_row + failure.rows - 1) +
            (failure.first_row ? " (counted from 0 there): " : ": ") + failure.message;
  }
  return text;
}

AggregateError::AggregateError(const std::string & model, std::vector<ChunkFailure> failures)
    : Exception(text_of(model, failures)),
      _failures(std::move(failures))
{
  for (const auto & failure : _failures)
    try
    {
      std::rethrow_exception(failure.error);
    }
    catch (const ConvergenceError & e)
    {
      for (const auto row : e.failed_rows())
        _failed_rows.push_back(failure.first_row + row);
    }
    catch (...)
    {
      _recoverable = false;
    }
}

AggregateError::~AggregateError() = default;
}
