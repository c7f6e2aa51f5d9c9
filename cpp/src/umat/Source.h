// Where an input of a law gets its values from, and where an output goes: an entry of the settings, understood.
#pragma once

#include <string>
#include <vector>

namespace matlaw::umat
{
/// A quantity of the host.
enum class Quantity
{
  STRAIN,
  OLD_STRAIN,
  STRAIN_INCREMENT,
  STRAIN_RATE,
  SPIN,
  DEFORMATION_GRADIENT,
  OLD_DEFORMATION_GRADIENT,
  STRESS,
  TIME,
  OLD_TIME,
  STEP_TIME,
  TIME_INCREMENT,
  TEMPERATURE,
  OLD_TEMPERATURE,
  PREDEF,
  OLD_PREDEF,
  PROPS,
  STATEV,
  CONSTANT,
  UNUSED
};

struct Source
{
  Quantity quantity = Quantity::UNUSED;
  /// First entry of PREDEF, PROPS or STATEV, counted from 1
  int entry = 0;
  /// Turned with the material by DROT before the law sees it
  bool rotated = false;
  std::vector<double> constant = {};
};

/// Understands `text`: "strain", "old time", "statev 3", "statev 3 rotated", "props 2", "value 1.5" ... `place` names
/// the entry in messages. Throws FatalError.
Source source_from_text(const std::string & text, const std::string & place);
}
