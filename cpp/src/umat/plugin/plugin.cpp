// The plugin: umat_ for the law whose settings lie beside this file. matlaw-umat copies it, under a name for each law.
//
// It finds its own path, from it `<name>.umat.i`, and loads libmatlaw_umat from where that says. All else is there, and
// there once for all plugins of a process. What is static here belongs to one copy of this file alone: nothing but
// umat_ is exported, and there is no inline function with a static variable, which the linker would make the same for
// all copies.
#include <cstdio>
#include <cstdlib>
#include <string>

#include <dlfcn.h>

#include "../call.h"

namespace
{
struct Plugin
{
  void * material = nullptr;
  matlaw_umat_evaluate_function evaluate = nullptr;
};

[[noreturn]] void stop(const std::string & message)
{
  std::fflush(nullptr);
  std::fprintf(stderr, "\nmatlaw: %s\n", message.c_str());
  std::fflush(nullptr);
  std::_Exit(1);
}

/// `/a/steel-opt.plugin` and `/a/steel.so` have the settings `/a/steel.umat.i`.
std::string settings_beside(std::string path)
{
  const auto name = path.rfind('/') == std::string::npos ? 0 : path.rfind('/') + 1;
  if (const auto dot = path.rfind('.'); dot != std::string::npos && dot > name)
    path.erase(dot);
  for (const char * method : {"-opt", "-dbg", "-devel", "-oprof"})
  {
    const std::string suffix = method;
    if (path.size() > name + suffix.size() && path.compare(path.size() - suffix.size(), suffix.size(), suffix) == 0)
    {
      path.erase(path.size() - suffix.size());
      break;
    }
  }
  return path + ".umat.i";
}

/// The value of `library = '...'` in the settings; empty when there is none.
std::string library_of(const std::string & settings)
{
  std::FILE * file = std::fopen(settings.c_str(), "r");
  if (!file)
    stop("the UMAT plugin has no settings: " + settings +
         " cannot be read. matlaw-umat writes them beside the plugin; move the plugin, its settings and the law "
         "together.");
  std::string text;
  char buffer[4096];
  for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, file)) > 0;)
    text.append(buffer, n);
  std::fclose(file);
  for (std::size_t line = 0; line < text.size();)
  {
    auto end = text.find('\n', line);
    end = end == std::string::npos ? text.size() : end;
    const auto word = text.find_first_not_of(" \t", line);
    if (word < end && text.compare(word, 7, "library") == 0)
    {
      const auto open = text.find('\'', word);
      const auto close = open < end ? text.find('\'', open + 1) : std::string::npos;
      if (close < end)
        return text.substr(open + 1, close - open - 1);
    }
    line = end + 1;
  }
  return "";
}

Plugin load()
{
  Dl_info self;
  if (!dladdr(reinterpret_cast<const void *>(&settings_beside), &self) || !self.dli_fname)
    stop("the UMAT plugin cannot find out where it lies.");
  const auto settings = settings_beside(self.dli_fname);
  const auto recorded = library_of(settings);
  std::string library = recorded;
  if (const char * chosen = std::getenv("MATLAW_UMAT_LIBRARY"); chosen && *chosen)
    library = chosen;
  if (library.empty())
    library = "libmatlaw_umat.so";
  void * handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
  {
    const char * why = dlerror();
    stop("the UMAT plugin cannot load libmatlaw_umat (" + std::string(why ? why : "no reason given") + "). " +
         settings + " says that it is '" + recorded +
         "'. Write the plugin again with matlaw-umat, or set the environment variable "
         "MATLAW_UMAT_LIBRARY to the libmatlaw_umat.so of the matlaw that is installed.");
  }
  const auto open = reinterpret_cast<matlaw_umat_open_function>(dlsym(handle, "matlaw_umat_open"));
  Plugin plugin;
  plugin.evaluate = reinterpret_cast<matlaw_umat_evaluate_function>(dlsym(handle, "matlaw_umat_evaluate"));
  if (!open || !plugin.evaluate)
    stop(library + " is no libmatlaw_umat. Write the plugin again with matlaw-umat.");
  plugin.material = open(settings.c_str(), matlaw_umat_interface);
  return plugin;
}
}

extern "C" __attribute__((visibility("default"))) void
umat_(double * stress, double * statev, double * ddsdde, double *, double *, double *, double *, double *, double *,
      double *, double * stran, double * dstran, double * time, double * dtime, double * temp, double * dtemp,
      double * predef, double * dpred, char *, std::int32_t * ndi, std::int32_t * nshr, std::int32_t * ntens,
      std::int32_t * nstatv, double * props, std::int32_t * nprops, double *, double * drot, double * pnewdt, double *,
      double * dfgrd0, double * dfgrd1, std::int32_t * noel, std::int32_t * npt, std::int32_t *, std::int32_t *,
      std::int32_t * kstep, std::int32_t * kinc)
{
  static const Plugin plugin = load();
  const matlaw_umat_call call{stress, statev, ddsdde, stran, dstran, time,   dtime, temp,   dtemp,
                              predef, dpred,  ndi,    nshr,  ntens,  nstatv, props, nprops, drot,
                              pnewdt, dfgrd0, dfgrd1, noel,  npt,    kstep,  kinc};
  plugin.evaluate(plugin.material, &call);
}
