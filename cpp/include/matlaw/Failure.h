// Why a call failed: the rows, what their solves did, and their inputs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "matlaw/Model.h"
#include "matlaw/Reason.h"

namespace matlaw
{
/// One row that failed.
struct FailedRow
{
  /// Of the flattened batch
  std::int64_t row = 0;
  Status status = Status::NOT_CONVERGED;
  Reason reason = Reason::NONE;
  /// What the reason is about: the implicit segment that failed, or the output or input, each counted from 0; -1:
  /// nothing
  std::int32_t place = -1;
  /// The reason in words: "iteration limit of 25 reached with |r| = 0.0031"
  std::string text;
  std::int32_t iterations = 0;
  /// |r| where each iteration of the segment that failed started, the last one included; of the last substep
  std::vector<double> residuals;
  /// Part of each Newton step that was taken, as the line search chose it
  std::vector<double> steps;
};

/// A call in which rows failed. Made by running the first of these rows again, alone and recorded.
struct Failure
{
  /// No more rows than these are looked at.
  static constexpr std::int64_t max_rows = 16;

  std::string model;
  /// Rows of the call
  std::int64_t n_rows = 0;
  /// All that failed, ascending
  std::vector<std::int64_t> failed_rows;
  /// The first of them
  std::vector<FailedRow> rows;
  /// What they were called with, each (rows.size(), *sub_batch, *base)
  TensorMap inputs;
  /// Median norm of an input over the rows of the call (over at most 1024 of them)
  std::map<std::string, double> typical;
  /// Promoted parameters, each (*param_base), or (rows.size(), *param_base) where every row had its own
  TensorMap parameters;
  /// What convergence means in the implicit update that the worst row failed in
  double atol = 0.0, rtol = 0.0;
  std::int64_t miters = 0;
  /// The replay file that was written, see MATLAW_FAILURE_DIR; empty when none was
  std::string file;

  /// Position in `rows` of the one that says most: with the largest last residual, NaN counting as the largest.
  std::size_t worst() const;
  /// How many rows failed, why the worst did, which of its inputs stand out, and what to do.
  std::string message() const;
};

/// "ITERATION_LIMIT" ...
const char * name(Reason reason) noexcept;
/// The reason of a row in words; `name_of_place` is the output or input that its `place` stands for, or the implicit
/// update of a law that has several.
std::string reason_text(const FailedRow & row, std::int64_t miters, const std::string & name_of_place);
}
