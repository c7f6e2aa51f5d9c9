#include "Source.h"

#include <map>
#include <sstream>

#include "matlaw/errors.h"
#include "support/text.h"

namespace matlaw::umat
{
namespace
{
const std::map<std::string, Quantity> & words()
{
  static const std::map<std::string, Quantity> known{{"strain", Quantity::STRAIN},
                                                     {"old_strain", Quantity::OLD_STRAIN},
                                                     {"strain_increment", Quantity::STRAIN_INCREMENT},
                                                     {"strain_rate", Quantity::STRAIN_RATE},
                                                     {"spin", Quantity::SPIN},
                                                     {"deformation_gradient", Quantity::DEFORMATION_GRADIENT},
                                                     {"old_deformation_gradient", Quantity::OLD_DEFORMATION_GRADIENT},
                                                     {"stress", Quantity::STRESS},
                                                     {"time", Quantity::TIME},
                                                     {"old_time", Quantity::OLD_TIME},
                                                     {"step_time", Quantity::STEP_TIME},
                                                     {"time_increment", Quantity::TIME_INCREMENT},
                                                     {"temperature", Quantity::TEMPERATURE},
                                                     {"old_temperature", Quantity::OLD_TEMPERATURE},
                                                     {"predef", Quantity::PREDEF},
                                                     {"old_predef", Quantity::OLD_PREDEF},
                                                     {"props", Quantity::PROPS},
                                                     {"statev", Quantity::STATEV},
                                                     {"value", Quantity::CONSTANT},
                                                     {"unused", Quantity::UNUSED}};
  return known;
}
}

Source source_from_text(const std::string & text, const std::string & place)
{
  std::istringstream stream(text);
  std::string word;
  stream >> word;
  const auto found = words().find(word);
  if (found == words().end())
  {
    std::vector<std::string> known;
    for (const auto & [name, quantity] : words())
      known.push_back(name);
    throw FatalError(place + " = '" + text + "' is not understood; expected one of " + support::quoted_list(known) +
                     "." + support::did_you_mean(word, known));
  }
  Source source;
  source.quantity = found->second;
  switch (source.quantity)
  {
  case Quantity::PREDEF:
  case Quantity::OLD_PREDEF:
  case Quantity::PROPS:
  case Quantity::STATEV:
    if (!(stream >> source.entry) || source.entry < 1)
      throw FatalError(place + " = '" + text + "': expected the number of an entry, 1 or more, after '" + word + "'.");
    break;
  case Quantity::CONSTANT:
    for (double value = 0; stream >> value;)
      source.constant.push_back(value);
    if (source.constant.empty())
      throw FatalError(place + " = '" + text + "': expected numbers after 'value'.");
    stream.clear();
    break;
  default:
    break;
  }
  if (stream >> word)
  {
    if (word != "rotated" || source.quantity != Quantity::STATEV)
      throw FatalError(place + " = '" + text + "': '" + word + "' does not belong here.");
    source.rotated = true;
    if (stream >> word)
      throw FatalError(place + " = '" + text + "': '" + word + "' does not belong here.");
  }
  return source;
}
}
