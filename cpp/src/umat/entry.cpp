// What plugins call. Mistakes in the set-up end the run here, with their message: a host must not answer them by a
// smaller step.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "Material.h"
#include "matlaw/errors.h"

namespace
{
[[noreturn]] void stop(const std::string & message)
{
  std::fflush(nullptr);
  std::fprintf(stderr, "\nmatlaw: %s\nThe run ends here: this is no matter of the time step.\n", message.c_str());
  std::fflush(nullptr);
  std::_Exit(1); // no destructors: other threads of the host are still at work
}
}

extern "C" __attribute__((visibility("default"))) void * matlaw_umat_open(const char * settings, std::int32_t interface)
{
  try
  {
    if (interface != matlaw_umat_interface)
      throw matlaw::FatalError(std::string("The plugin of ") + settings +
                               " belongs to another version of matlaw. Write it again with matlaw-umat.");
    return new matlaw::umat::Material(matlaw::umat::read_settings(settings));
  }
  catch (const std::exception & e)
  {
    stop(e.what());
  }
}

extern "C" __attribute__((visibility("default"))) void matlaw_umat_evaluate(void * material,
                                                                            const matlaw_umat_call * call)
{
  try
  {
    static_cast<matlaw::umat::Material *>(material)->evaluate(*call);
  }
  catch (const matlaw::ConvergenceError &)
  {
    throw;
  }
  catch (const std::exception & e)
  {
    stop(e.what());
  }
}
