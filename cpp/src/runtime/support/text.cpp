#include "support/text.h"

#include <algorithm>
#include <numeric>
#include <sstream>

namespace matlaw::support
{
std::string shape_text(const std::vector<std::int64_t> & shape)
{
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); i++)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

std::string quoted_list(const std::vector<std::string> & names, std::size_t limit)
{
  if (names.empty())
    return "none";
  std::string text;
  for (std::size_t i = 0; i < std::min(limit, names.size()); i++)
    text += (i ? ", '" : "'") + names[i] + "'";
  if (names.size() > limit)
    text += ", ... (" + std::to_string(names.size()) + " in all)";
  return text;
}

std::string row_list(const std::vector<std::int64_t> & rows, std::size_t limit)
{
  std::string text;
  for (std::size_t i = 0; i < std::min(limit, rows.size()); i++)
    text += (i ? ", " : "") + std::to_string(rows[i]);
  if (rows.size() > limit)
    text += ", ... (" + std::to_string(rows.size()) + " in all)";
  return text;
}

static std::size_t edit_distance(const std::string & a, const std::string & b)
{
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); i++)
  {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); j++)
    {
      const std::size_t substituted = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, substituted});
    }
  }
  return row.back();
}

std::string number_text(double value, int digits)
{
  std::ostringstream text;
  text.precision(digits);
  text << value;
  return text.str();
}

std::string closest_match(const std::string & name, const std::vector<std::string> & candidates)
{
  std::string best;
  std::size_t fewest = std::max<std::size_t>(2, name.size() / 3) + 1;
  for (const auto & candidate : candidates)
    if (const auto distance = edit_distance(name, candidate); distance < fewest)
    {
      fewest = distance;
      best = candidate;
    }
  return best;
}

std::string did_you_mean(const std::string & name, const std::vector<std::string> & candidates)
{
  const auto match = closest_match(name, candidates);
  return match.empty() ? "" : " Did you mean '" + match + "'?";
}
}
