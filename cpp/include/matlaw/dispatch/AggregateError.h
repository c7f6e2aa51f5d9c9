// What went wrong on the devices of one call.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <vector>

#include "matlaw/errors.h"

namespace matlaw::dispatch
{
/// A chunk that failed.
struct ChunkFailure
{
  /// The device it ran on
  std::string device;
  /// Its rows of the flattened batch: [first_row, first_row + rows)
  std::int64_t first_row;
  std::int64_t rows;
  std::string message;
  /// What was thrown; rows in it count from the chunk's first
  std::exception_ptr error;
};

/// Some chunks of a call failed.
class AggregateError : public Exception
{
public:
  /// `failures`: one at least, in the order of rows.
  AggregateError(const std::string & model, std::vector<ChunkFailure> failures);
  ~AggregateError() override;

  /// True only if every failure is a ConvergenceError.
  bool recoverable() const noexcept override { return _recoverable; }
  const std::vector<ChunkFailure> & failures() const noexcept { return _failures; }
  /// Rows of the flattened batch that did not converge, ascending.
  const std::vector<std::int64_t> & failed_rows() const noexcept { return _failed_rows; }

private:
  std::vector<ChunkFailure> _failures;
  std::vector<std::int64_t> _failed_rows;
  bool _recoverable = true;
};
}
