// NumPy arrays and bytes for the host room.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "matlaw/Span.h"

namespace matlaw::bindings
{
namespace py = pybind11;

using Array = py::array_t<double, py::array::c_style | py::array::forcecast>;
/// Numbers of points
using Points = py::array_t<std::int64_t, py::array::c_style | py::array::forcecast>;
using Shape = std::vector<std::int64_t>;

inline Shape shape_of(const py::array & values)
{
  return {values.shape(), values.shape() + values.ndim()};
}

inline std::string text(const Shape & shape)
{
  return py::cast<std::string>(py::str(py::tuple(py::cast(shape))));
}

inline bool has_shape(const py::array & values, const Shape & shape)
{
  return std::equal(values.shape(), values.shape() + values.ndim(), shape.begin(), shape.end());
}

/// A read-only array over shared memory: the old state may be the same memory as an output.
inline py::array view(const std::shared_ptr<const double> & values, const Shape & shape)
{
  const py::capsule owner(new std::shared_ptr<const double>(values),
                          [](void * keep) { delete static_cast<std::shared_ptr<const double> *>(keep); });
  py::array result(py::dtype::of<double>(), shape, values.get(), owner);
  result.attr("flags").attr("writeable") = false;
  return result;
}

inline Span<const double> span(const Array & values)
{
  return {values.data(), static_cast<std::size_t>(values.size())};
}

inline Span<const std::int64_t> span(const Points & points)
{
  return {points.data(), static_cast<std::size_t>(points.size())};
}

template <typename T>
py::array_t<T> copy(const std::vector<T> & values)
{
  return py::array_t<T>(static_cast<py::ssize_t>(values.size()), values.data());
}

inline py::bytes to_python(const std::vector<std::byte> & bytes)
{
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

inline Span<const std::byte> span(const py::bytes & bytes)
{
  const std::string_view view = bytes;
  return {reinterpret_cast<const std::byte *>(view.data()), view.size()};
}
}
