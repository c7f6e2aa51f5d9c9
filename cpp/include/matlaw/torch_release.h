// The release of torch that libmatlaw was built for.
#pragma once

#include <string>

namespace matlaw
{
/// Release of torch that libmatlaw was built for: "2.13".
std::string torch_release();

/// Refuses a torch of another release in this process: its classes may have other layouts. Called by all that loads a
/// law. Throws FatalError, which names both releases and the remedy.
void check_torch_release();
}
