#include "setting_names.h"

#include <algorithm>
#include <array>
#include <utility>

#include "../runtime/support/text.h"

namespace matlaw::eager
{
/// At run time, and as an option of a solver in an input file
static constexpr std::array<std::pair<const char *, const char *>, 7> two_names{{
    {"atol", "abs_tol"},
    {"rtol", "rel_tol"},
    {"miters", "max_its"},
    {"ls_type", "linesearch_type"},
    {"ls_max_iters", "max_linesearch_iterations"},
    {"ls_cutback", "linesearch_cutback"},
    {"ls_c", "linesearch_stopping_criteria"},
}};

/// What the setting of this name is called where it is known; empty where it is not.
static std::string other_name(const std::string & name, const std::vector<std::string> & known)
{
  for (const auto & [one, other] : two_names)
    for (const auto & [given, meant] : {std::pair{one, other}, std::pair{other, one}})
      if (name == given && std::find(known.begin(), known.end(), meant) != known.end())
        return meant;
  return "";
}

std::string unknown_setting(const std::string & subject, const std::string & name,
                            const std::vector<std::string> & known)
{
  std::string names;
  for (const auto & other : known)
    names += (names.empty() ? "" : ", ") + other;
  const auto meant = other_name(name, known);
  return "There is no solver setting '" + subject + name + "'; there are " + names + "." +
         (meant.empty() ? support::did_you_mean(name, known) : " Did you mean '" + meant + "'?");
}
}
