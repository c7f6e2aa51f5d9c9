// Memory that grows and never shrinks, aligned for SIMD.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

namespace matlaw::support
{
/// Uninitialised storage aligned to 64 bytes. Growing it drops the contents: it holds scratch, not data.
template <typename T>
class AlignedBuffer
{
public:
  T * reserve(std::size_t count)
  {
    if (count > _capacity)
    {
      _data.reset();
      const std::size_t bytes = (count * sizeof(T) + 63) / 64 * 64;
      _data.reset(static_cast<T *>(std::aligned_alloc(64, bytes)));
      if (!_data)
        throw std::bad_alloc();
      _capacity = count;
    }
    return _data.get();
  }
  T * data() const noexcept { return _data.get(); }

private:
  struct Free
  {
    void operator()(T * p) const noexcept { std::free(p); }
  };
  std::unique_ptr<T, Free> _data;
  std::size_t _capacity = 0;
};
}
