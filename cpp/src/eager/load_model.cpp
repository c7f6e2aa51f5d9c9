#include "matlaw/eager/load_model.h"

namespace matlaw::eager
{
Model load_model(const std::string & input, const std::string & model, const std::vector<std::string> & extensions)
{
  return Model(input, model, extensions);
}
}
