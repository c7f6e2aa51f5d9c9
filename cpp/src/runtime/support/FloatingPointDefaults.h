// Default rounding, no traps, subnormals kept: while matlaw computes, whatever the host's thread is set to.
#pragma once

#include <cfenv>

namespace matlaw::support
{
/// Two reasons: a host that traps invalid operations must not die of a row that diverges, and a thread that flushes
/// subnormals to zero must not return other bits than one that does not.
class FloatingPointDefaults
{
public:
  FloatingPointDefaults()
  {
    std::fegetenv(&_saved);
    std::fesetenv(FE_DFL_ENV);
  }
  ~FloatingPointDefaults() { std::fesetenv(&_saved); }
  FloatingPointDefaults(const FloatingPointDefaults &) = delete;
  FloatingPointDefaults & operator=(const FloatingPointDefaults &) = delete;

private:
  std::fenv_t _saved;
};
}
