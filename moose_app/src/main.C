#include "MatlawApp.h"

#if __has_include("MooseMain.h")
#include "MooseMain.h"

int
main(int argc, char * argv[])
{
  return Moose::main<MatlawApp>(argc, argv);
}
#else
#include "AppFactory.h"
#include "Moose.h"
#include "MooseInit.h"

// Versions of MOOSE without MooseMain.h leave this to the application.
libMesh::PerfLog Moose::perf_log("Matlaw");

int
main(int argc, char * argv[])
{
  MooseInit init(argc, argv);
  MatlawApp::registerApps();
  const std::shared_ptr<MooseApp> app = AppFactory::createAppShared("MatlawApp", argc, argv);
  app->run();
  return 0;
}
#endif
