// A call in which rows failed, kept so that it can be looked into when somebody asks.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "aoti/Evaluator.h"
#include "artifact/Metadata.h"
#include "matlaw/Failure.h"

namespace matlaw::aoti
{
/// Holds the first failed rows only, and copies of their inputs.
class FailingCall
{
public:
  FailingCall(const artifact::Metadata & metadata, const Arguments & arguments, Want want,
              const Evaluation & evaluation);

  /// True when the rows that failed are those of this verdict.
  bool fits(const Evaluation & evaluation) const;

  /// Runs the rows again, recorded; done once, whoever asks. From any thread.
  const Failure & look_into(const artifact::Metadata & metadata, const Evaluator & evaluator) const;
  /// Names the replay file of this call. Not beside look_into().
  void set_file(const std::string & file) { _failure.file = file; }

  const std::vector<solve::NewtonConfig> & solvers() const { return _arguments.solvers; }

private:
  /// The first input or parameter of a row that is not finite, counted over both
  std::int32_t not_finite(std::size_t row) const;

  Arguments _arguments;
  Want _want;
  mutable std::once_flag _once;
  mutable Failure _failure;
};
}
