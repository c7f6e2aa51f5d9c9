// Pieces of error messages.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace matlaw::support
{
/// "(2, 6)"
std::string shape_text(const std::vector<std::int64_t> & shape);

/// "'a', 'b', 'c'", or "none"; at most `limit` names, then "... (n in all)"
std::string quoted_list(const std::vector<std::string> & names, std::size_t limit = 20);

/// "3, 7, 12": at most `limit` rows, then "... (n in all)"
std::string row_list(const std::vector<std::int64_t> & rows, std::size_t limit = 10);

/// "0.0031": a number, to so many digits
std::string number_text(double value, int digits = 4);

/// The candidate with the fewest edits from `name`; empty when none is near enough to be a misspelling of it.
std::string closest_match(const std::string & name, const std::vector<std::string> & candidates);

/// " Did you mean 'x'?" or nothing
std::string did_you_mean(const std::string & name, const std::vector<std::string> & candidates);
}
