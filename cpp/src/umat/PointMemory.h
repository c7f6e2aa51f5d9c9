// What a law made of the points of a thread, for hosts that ask for the same again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace matlaw::umat
{
/// Newton's method of a host evaluates the residual and then, in the same state, the Jacobian: MOOSE calls its
/// materials for both. Every second call of a point asks for what the one before returned.
///
/// An entry serves a call whose law and key are the same, bit by bit; a law is a function of them alone. Not for
/// several threads at once.
class PointMemory
{
public:
  /// `key` and `result`: numbers of an entry. Points for which `max_bytes` have no room are not remembered.
  PointMemory(std::size_t key, std::size_t result, std::size_t max_bytes);

  /// The result that is remembered for `point` of `element`; a null pointer when there is none, or for another key.
  const double * find(int element, int point, const void * law, const double * key);
  /// Remembers the result of the point that find() was asked for last.
  void keep(const double * result);

private:
  struct Point
  {
    std::uint64_t name;
    const void * law = nullptr;
  };
  static constexpr std::size_t none = std::size_t(-1), block = 256;

  std::size_t place_of(std::uint64_t name);
  double * entry(std::size_t place) { return _blocks[place / block].get() + place % block * (_key + _result); }

  std::size_t _key, _result, _max_points;
  std::vector<Point> _points;
  /// Entries do not move: a block of them at a time.
  std::vector<std::unique_ptr<double[]>> _blocks;
  std::unordered_map<std::uint64_t, std::size_t> _places;
  /// Of the last call, and where the next one will be if the host keeps to its order
  std::size_t _current = none, _next = 0;
  const void * _law = nullptr;
};
}
