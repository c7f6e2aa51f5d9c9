// Names of solver settings that a caller got wrong.
#pragma once

#include <string>
#include <vector>

namespace matlaw::eager
{
/// "There is no solver setting 'rel_tol'; there are ... Did you mean 'rtol'?" Input files and the settings of iterative
/// solvers have other names for some of the settings; these are recognised besides misspellings. `subject` is what the
/// settings are part of: "", or "krylov." and the like.
std::string unknown_setting(const std::string & subject, const std::string & name,
                            const std::vector<std::string> & known);
}
