// Default rounding, no traps, subnormals kept: while matlaw computes, whatever the host's thread is set to.
#pragma once

#if defined(__SSE2__)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace matlaw::support
{
/// Two reasons: a host that traps invalid operations must not die of a row that diverges, and a thread that flushes
/// subnormals to zero must not return other bits than one that does not.
class FloatingPointDefaults
{
#if defined(__SSE2__)
public:
  /// The settings of vector registers alone: nothing here computes in the x87 registers, and to save those as <cfenv>
  /// does takes a tenth of the time of a call for one point.
  FloatingPointDefaults() : _saved(_mm_getcsr()) { _mm_setcsr(0x1f80); }
  ~FloatingPointDefaults() { _mm_setcsr(_saved); }

private:
  unsigned int _saved;
#else
public:
  FloatingPointDefaults()
  {
    std::fegetenv(&_saved);
    std::fesetenv(FE_DFL_ENV);
  }
  ~FloatingPointDefaults() { std::fesetenv(&_saved); }

private:
  std::fenv_t _saved;
#endif

public:
  FloatingPointDefaults(const FloatingPointDefaults &) = delete;
  FloatingPointDefaults & operator=(const FloatingPointDefaults &) = delete;
};
}
