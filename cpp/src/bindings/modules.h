// What each file of this room adds to the module matlaw._core.
#pragma once

#include <pybind11/pybind11.h>

namespace matlaw::bindings
{
void bind_dispatch(pybind11::module_ & module);
void bind_errors(pybind11::module_ & module);
void bind_failure(pybind11::module_ & module);
void bind_logging(pybind11::module_ & module);
void bind_newton(pybind11::module_ & module);
void bind_model(pybind11::module_ & module);
void bind_quadrature_batch(pybind11::module_ & module);
void bind_batch_group(pybind11::module_ & module);
void bind_substepping(pybind11::module_ & module);
void bind_weights(pybind11::module_ & module);
}
