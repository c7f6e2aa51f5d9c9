// Whole files in memory.
#pragma once

#include <string>

namespace matlaw::artifact
{
/// The bytes of a file. Throws FatalError naming the path when it cannot be read.
std::string read_bytes(const std::string & path);
}
