// The file beside a plugin, `<name>.umat.i`, that says which law it is and how the host's arrays and the law's
// variables belong together.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "Source.h"

namespace matlaw::umat
{
/// How DDSDDE is stored. A symmetric one is the same either way.
enum class Order
{
  /// DDSDDE(i, j) at [i * NTENS + j]: MOOSE
  ROWS,
  /// at [j * NTENS + i]: Fortran, Abaqus
  COLUMNS
};

/// What happens when a point fails that a smaller step may save.
enum class OnFailure
{
  /// ConvergenceError is thrown: MOOSE cuts its step
  THROW,
  /// PNEWDT becomes the law's suggestion, below 1
  PNEWDT
};

inline constexpr std::size_t default_point_memory = std::size_t(256) << 20;

struct Settings
{
  /// The file itself
  std::string path;
  /// Path of the law
  std::string law;
  std::string model;
  /// For laws that Python evaluates: libpython, and the bin folder of its environment. May be empty.
  std::string libpython, python_bin;
  Order order = Order::ROWS;
  OnFailure on_failure = OnFailure::THROW;
  /// Bytes that a thread has for the results of its points, which it returns when asked for the same again; 0: none
  std::size_t point_memory = default_point_memory;
  /// First entry of STATEV for the strains that are found from zero stresses (plane stress); 0: none
  int out_of_plane = 0;
  /// Entry of STATEV that is 0 until the state has got its initial values; 0: all start from zero
  int started = 0;
  std::map<std::string, Source> inputs, outputs, parameters;
  /// Initial values of old state variables, instead of those of the law
  std::map<std::string, std::vector<double>> initial;
};

/// Throws FatalError, naming the file and the entry.
Settings read_settings(const std::string & path);
}
