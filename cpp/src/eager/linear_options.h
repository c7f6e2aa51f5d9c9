// Settings of linear solvers as Python writes them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <pybind11/pybind11.h>

#include "matlaw/eager/export.h"
#include "matlaw/solve/KrylovConfig.h"
#include "matlaw/solve/LinearStructure.h"

namespace matlaw::eager
{
/// (rows, columns) of each block
using EliminationPairs = std::vector<std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>>;
/// (offset, size) of each block
using DiagonalPairs = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// Throws FatalError for blocks that are not square, overlap or do not fit a matrix of size n.
MATLAW_EAGER_API solve::LinearStructure linear_structure(const EliminationPairs & elimination,
                                                         const DiagonalPairs & preconditioner, std::int64_t n);

/// Sets the entries that a dict names. Throws FatalError for another name, a value of another kind or out of range;
/// `subject` is what the settings are called.
MATLAW_EAGER_API void update(solve::KrylovConfig & config, const pybind11::handle & settings,
                             const std::string & subject = "krylov");

MATLAW_EAGER_API pybind11::dict to_dict(const solve::KrylovConfig & config);
}
