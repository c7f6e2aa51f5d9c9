// State variables in STATEV, as the library that MOOSE's UMAT interface follows keeps them.
#pragma once

#include "Law.h"

namespace matlaw::umat
{
/// Components of the law from those of the host, and back.
void state_from_host(const Variable & variable, const double * statev, double * value);
void state_to_host(const Variable & variable, const double * value, double * statev);
}
