// What can go wrong, and whether a host may answer it by cutting its time step.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace matlaw
{
/// Base of everything that matlaw throws on purpose.
class Exception : public std::runtime_error
{
public:
  using std::runtime_error::runtime_error;
  ~Exception() override;
  /// True when a smaller step may succeed; false when something is set up wrongly.
  virtual bool recoverable() const noexcept = 0;
};

/// Some rows did not converge. The host may cut its step and retry from the old state.
class ConvergenceError : public Exception
{
public:
  ConvergenceError(const std::string & what, std::vector<std::int64_t> failed_rows);
  ~ConvergenceError() override;
  bool recoverable() const noexcept override { return true; }
  /// Rows of the flattened batch that failed, ascending.
  const std::vector<std::int64_t> & failed_rows() const noexcept { return _failed_rows; }

private:
  std::vector<std::int64_t> _failed_rows;
};

/// A shape, dtype, device, name, artifact or input file is wrong. Never an answer to it: a smaller step.
class FatalError : public Exception
{
public:
  using Exception::Exception;
  ~FatalError() override;
  bool recoverable() const noexcept override { return false; }
};

/// An input holds NaN or infinity.
class InputError : public FatalError
{
public:
  InputError(const std::string & what, std::string variable, std::int64_t row);
  ~InputError() override;
  const std::string & variable() const noexcept { return _variable; }
  std::int64_t row() const noexcept { return _row; }

private:
  std::string _variable;
  std::int64_t _row;
};
}
