// A view of contiguous values: what std::span is in C++20, for hosts that are compiled as C++17.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace matlaw
{
/// `size` values from `data` on, owned by somebody else. Made from whatever has data() and size(): std::vector,
/// std::array, std::span. The headers of a host take it in the place of std::span, so that their functions have one
/// name in the library whichever standard the host is compiled with.
template <typename T>
class Span
{
public:
  constexpr Span() noexcept = default;
  constexpr Span(T * data, std::size_t size) noexcept : _data(data), _size(size) {}
  template <
      typename Container,
      typename = std::enable_if_t<
          !std::is_same_v<std::decay_t<Container>, Span> &&
          std::is_convertible_v<std::remove_pointer_t<decltype(std::declval<Container &>().data())> (*)[], T (*)[]>>>
  constexpr Span(Container && container) noexcept : _data(container.data()),
                                                    _size(container.size())
  {
  }

  constexpr T * data() const noexcept { return _data; }
  constexpr std::size_t size() const noexcept { return _size; }
  constexpr bool empty() const noexcept { return _size == 0; }
  constexpr T * begin() const noexcept { return _data; }
  constexpr T * end() const noexcept { return _data + _size; }
  constexpr T & operator[](std::size_t i) const noexcept { return _data[i]; }
  constexpr Span subspan(std::size_t first, std::size_t count) const noexcept { return {_data + first, count}; }

private:
  T * _data = nullptr;
  std::size_t _size = 0;
};
}
