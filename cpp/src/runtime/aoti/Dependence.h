// Which derivatives a run has to carry from segment to segment.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "artifact/Metadata.h"

namespace matlaw::aoti
{
/// What derivatives are by.
enum class By : std::uint8_t
{
  INPUTS,
  PARAMETERS
};

/// Where derivatives begin.
enum class Start : std::uint8_t
{
  /// At the seeds themselves
  SEEDS,
  /// The caller gives those of all master inputs, by the seeds of the requested derivatives; all outputs are wanted
  GIVEN
};

/// Derivatives are carried forward: D[variable][seed], where a seed is a master input or a promoted parameter. Finds
/// what depends on what, then what the requested pairs need. `metadata` must outlive it.
class Dependence
{
public:
  Dependence(const artifact::Metadata & metadata, By by, Start start);

  /// A parameter as a seed: apart from a variable of the same name.
  static std::string seed_of(const std::string & parameter) { return "parameter " + parameter; }

  bool by_parameters() const { return _by == By::PARAMETERS; }
  bool given() const { return _start == Start::GIVEN; }

  /// Everything that derivatives may be by, with sizes.
  std::vector<std::pair<std::string, std::int64_t>> seeds() const;

  /// (output, seed) of all derivatives that are wanted; with Start::GIVEN every output by every seed, in this order
  std::vector<artifact::Pair> requested() const;

  /// Pairs of a forward segment by its inputs, then by its parameters as seeds.
  std::pair<std::vector<artifact::Pair>, std::vector<artifact::Pair>> forward_pairs(const artifact::Segment &) const;

  /// Seeds by which the derivative of each output of segment `index` is needed after it
  const std::map<std::string, std::set<std::string>> & needed(std::size_t index) const { return _needed[index]; }

private:
  std::vector<artifact::Pair> local_pairs(const artifact::Segment & segment) const;
  void find_needed();

  const artifact::Metadata & _metadata;
  By _by;
  Start _start;
  std::vector<std::map<std::string, std::set<std::string>>> _needed;
};
}
