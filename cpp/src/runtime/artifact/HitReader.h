// Just enough of the HIT format to find an artifact from its stub.
#pragma once

#include <map>
#include <string>

namespace matlaw::artifact
{
/// Every parameter of a HIT text, keyed by its full path ("Models/steel/type"); quotes are taken off, later ones win.
/// Lenient: what is not understood is skipped, for a stub carries sections that only other programs read.
std::map<std::string, std::string> read_hit(const std::string & text);
}
