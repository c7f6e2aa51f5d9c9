#include "statev.h"

#include <algorithm>
#include <cstdint>

#include "Hypothesis.h"

namespace matlaw::umat
{
/// The components of the host in which the library stores symmetric tensors in STATEV, for each Mandel component.
static constexpr int place_in_statev[6] = {0, 1, 2, 5, 4, 3};

void state_from_host(const Variable & variable, const double * statev, double * value)
{
  if (variable.type != "SR2")
  {
    std::copy_n(statev, variable.size, value);
    return;
  }
  for (std::int64_t tensor = 0; tensor < variable.size; tensor += 6)
    for (int c = 0; c < 6; c++)
      value[tensor + c] = statev[tensor + place_in_statev[c]] / Hypothesis::factor(c);
}

void state_to_host(const Variable & variable, const double * value, double * statev)
{
  if (variable.type != "SR2")
  {
    std::copy_n(value, variable.size, statev);
    return;
  }
  for (std::int64_t tensor = 0; tensor < variable.size; tensor += 6)
    for (int c = 0; c < 6; c++)
      statev[tensor + place_in_statev[c]] = value[tensor + c] * Hypothesis::factor(c);
}
}
