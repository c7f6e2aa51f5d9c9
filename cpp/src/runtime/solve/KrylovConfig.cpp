#include "matlaw/solve/KrylovConfig.h"

#include <cmath>

#include "matlaw/errors.h"

namespace matlaw::solve
{
void check(const KrylovConfig & config)
{
  const auto need = [](bool holds, const char * name, double value, const char * expected)
  {
    if (!holds)
      throw FatalError(std::string("The setting krylov.") + name + " is " + std::to_string(value) + "; it must be " +
                       expected + ".");
  };
  need(config.restart >= 1, "restart", double(config.restart), "a whole number of 1 or more");
  need(config.max_its >= 1, "max_its", double(config.max_its), "a whole number of 1 or more");
  need(config.abs_tol >= 0 && std::isfinite(config.abs_tol), "abs_tol", config.abs_tol,
       "a number that is not negative");
  need(config.rel_tol >= 0 && config.rel_tol < 1, "rel_tol", config.rel_tol, "0 or more and below 1");
  need(config.abs_tol > 0 || config.rel_tol > 0, "rel_tol", config.rel_tol, "positive where abs_tol is 0");
  need(config.cache_max_its >= 0, "cache_max_its", double(config.cache_max_its), "a whole number that is not negative");
}

KrylovMethod krylov_method_from_text(const std::string & text)
{
  if (text == "gmres")
    return KrylovMethod::GMRES;
  if (text == "bicgstab")
    return KrylovMethod::BICGSTAB;
  throw FatalError("There is no Krylov method '" + text + "'; expected gmres or bicgstab.");
}

std::string krylov_method_text(KrylovMethod method)
{
  return method == KrylovMethod::GMRES ? "gmres" : "bicgstab";
}

PreconditionerCache preconditioner_cache_from_text(const std::string & text)
{
  if (text == "none")
    return PreconditionerCache::NONE;
  if (text == "chord")
    return PreconditionerCache::CHORD;
  if (text == "max_its")
    return PreconditionerCache::MAX_ITS;
  throw FatalError("There is no cache strategy '" + text + "'; expected none, chord or max_its.");
}

std::string preconditioner_cache_text(PreconditionerCache strategy)
{
  switch (strategy)
  {
  case PreconditionerCache::CHORD:
    return "chord";
  case PreconditionerCache::MAX_ITS:
    return "max_its";
  default:
    return "none";
  }
}
}
