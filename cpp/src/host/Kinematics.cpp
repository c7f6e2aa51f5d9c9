#include "matlaw/host/Kinematics.h"

#include <array>
#include <vector>

#include "matlaw/errors.h"

namespace matlaw::host
{
namespace
{
struct Description
{
  std::string text;
  std::vector<int> host;
  std::vector<int> stress_free;
};

/// In the order of the enumeration.
const std::array<Description, 5> & descriptions()
{
  static const std::array<Description, 5> all = {{{"3d", {0, 1, 2, 3, 4, 5}, {}},
                                                  {"plane_strain", {0, 1, 5}, {}},
                                                  {"axisymmetric", {0, 1, 2, 5}, {}},
                                                  {"plane_stress", {0, 1, 5}, {2, 3, 4}},
                                                  {"uniaxial_stress", {0}, {1, 2, 3, 4, 5}}}};
  return all;
}

const Description & description(Hypothesis hypothesis)
{
  return descriptions().at(static_cast<std::size_t>(hypothesis));
}
}

const std::string & to_text(Hypothesis hypothesis)
{
  return description(hypothesis).text;
}

Hypothesis hypothesis_from_text(const std::string & text)
{
  std::string known;
  for (std::size_t i = 0; i < descriptions().size(); ++i)
  {
    if (descriptions()[i].text == text)
      return static_cast<Hypothesis>(i);
    known += (i ? ", '" : "'") + descriptions()[i].text + "'";
  }
  throw FatalError("there is no kinematic hypothesis '" + text + "'; there are: " + known);
}

Span<const int> host_components(Hypothesis hypothesis)
{
  return description(hypothesis).host;
}

Span<const int> stress_free_components(Hypothesis hypothesis)
{
  return description(hypothesis).stress_free;
}
}
