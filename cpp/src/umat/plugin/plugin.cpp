// The plugin: umat_ for the law whose settings lie beside this file. matlaw-umat copies it, under a name for each law.
//
// It finds its own path, from it `<name>.umat.i`, and loads libmatlaw_umat from where that says, or from where it is
// now if the environment that holds it was moved. All else is there, and there once for all plugins of a process. What
// is static here belongs to one copy of this file alone: nothing but umat_ is exported, and there is no inline function
// with a static variable, which the linker would make the same for all copies.
#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <dlfcn.h>
#include <unistd.h>

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

/// The folder of a file, with links followed; empty when there is no such file.
std::string real_folder(const std::string & file)
{
  char path[PATH_MAX];
  if (!realpath(file.c_str(), path))
    return "";
  const std::string real = path;
  return real.substr(0, real.rfind('/'));
}

std::string variable(const char * name)
{
  const char * value = std::getenv(name);
  return value ? value : "";
}

/// Takes the first file that is there, and remembers where it looked.
struct Search
{
  std::string found, looked_at;

  void at(const std::string & path)
  {
    looked_at += "\n  " + path;
    if (found.empty() && access(path.c_str(), R_OK) == 0)
      found = path;
  }
  void in(const std::string & folder, const std::string & file)
  {
    if (!folder.empty())
      at(folder + "/" + file);
  }
};

/// Where libmatlaw_umat is, best first.
Search search(const std::string & self, const std::string & settings)
{
  Search search;
  if (const auto chosen = variable("MATLAW_UMAT_LIBRARY"); !chosen.empty())
  {
    search.found = chosen;
    search.looked_at = "\n  " + chosen;
    return search;
  }
  // As matlaw-umat wrote it: where the library lay then, by its full path and as seen from the settings.
  const auto recorded = library_of(settings);
  for (std::size_t begin = 0; begin < recorded.size();)
  {
    const auto end = std::min(recorded.find(':', begin), recorded.size());
    const auto path = recorded.substr(begin, end - begin);
    path.find('/') == 0 ? search.at(path) : search.in(real_folder(settings), path);
    begin = end + 1;
  }
  // The installation that this file belongs to, where it is no copy; the environment of the program that runs; the one
  // that is activated.
  search.in(real_folder(self), "libmatlaw_umat.so");
  search.in(real_folder("/proc/self/exe"), "../lib/libmatlaw_umat.so");
  search.in(variable("CONDA_PREFIX"), "lib/libmatlaw_umat.so");
  // Last, one that the process has already, or that the system finds.
  if (search.found.empty())
    search.found = "libmatlaw_umat.so";
  return search;
}

void * library_for(const std::string & self, const std::string & settings)
{
  const auto library = search(self, settings);
  void * handle = dlopen(library.found.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
  {
    const char * why = dlerror();
    stop("the UMAT plugin cannot load libmatlaw_umat (" + std::string(why ? why : "no reason given") +
         "). It was looked for at" + library.looked_at + "\nWrite " + settings +
         " again with matlaw-umat, or set the environment variable MATLAW_UMAT_LIBRARY to the libmatlaw_umat.so of the "
         "matlaw that is installed.");
  }
  return handle;
}

Plugin load()
{
  Dl_info self;
  if (!dladdr(reinterpret_cast<const void *>(&settings_beside), &self) || !self.dli_fname)
    stop("the UMAT plugin cannot find out where it lies.");
  const auto settings = settings_beside(self.dli_fname);
  void * handle = library_for(self.dli_fname, settings);
  const auto open = reinterpret_cast<matlaw_umat_open_function>(dlsym(handle, "matlaw_umat_open"));
  Plugin plugin;
  plugin.evaluate = reinterpret_cast<matlaw_umat_evaluate_function>(dlsym(handle, "matlaw_umat_evaluate"));
  if (!open || !plugin.evaluate)
    stop("the libmatlaw_umat that " + settings +
         " leads to is of another release. Write the plugin again with matlaw-umat.");
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
