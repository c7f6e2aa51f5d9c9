#include "PointMemory.h"

#include <algorithm>
#include <cstring>

namespace matlaw::umat
{
PointMemory::PointMemory(std::size_t key, std::size_t result, std::size_t max_bytes)
    : _key(key),
      _result(result),
      _max_points(max_bytes / (sizeof(double) * (key + result) + sizeof(Point)))
{
}

std::size_t PointMemory::place_of(std::uint64_t name)
{
  if (_next < _points.size() && _points[_next].name == name)
    return _next;
  if (const auto found = _places.find(name); found != _places.end())
    return found->second;
  if (_points.size() == _max_points)
    return none;
  const auto place = _points.size();
  if (place % block == 0)
    _blocks.push_back(std::make_unique<double[]>(block * (_key + _result)));
  _points.push_back({name});
  _places.emplace(name, place);
  return place;
}

const double * PointMemory::find(int element, int point, const void * law, const double * key)
{
  _current = place_of(std::uint64_t(std::uint32_t(element)) << 32 | std::uint32_t(point));
  if (_current == none)
    return nullptr;
  _next = _current + 1 < _points.size() ? _current + 1 : 0;
  double * known = entry(_current);
  if (_points[_current].law == law && std::memcmp(known, key, _key * sizeof(double)) == 0)
    return known + _key;
  // Nothing is known until keep(): the call may fail.
  _points[_current].law = nullptr;
  _law = law;
  std::copy_n(key, _key, known);
  return nullptr;
}

void PointMemory::keep(const double * result)
{
  if (_current == none)
    return;
  std::copy_n(result, _result, entry(_current) + _key);
  _points[_current].law = _law;
}
}
