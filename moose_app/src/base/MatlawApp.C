#include "MatlawApp.h"

#include "AppFactory.h"
#include "Moose.h"
#include "MooseSyntax.h"

#if __has_include("SolidMechanicsApp.h")
#include "SolidMechanicsApp.h"
#elif __has_include("TensorMechanicsApp.h")
#include "TensorMechanicsApp.h"
#endif
#if __has_include("HeatTransferApp.h")
#include "HeatTransferApp.h"
#elif __has_include("HeatConductionApp.h")
#include "HeatConductionApp.h"
#endif

namespace
{
void
registerModules(Factory & factory, ActionFactory & actions, Syntax & syntax)
{
#if __has_include("SolidMechanicsApp.h")
  SolidMechanicsApp::registerAll(factory, actions, syntax);
#elif __has_include("TensorMechanicsApp.h")
  TensorMechanicsApp::registerAll(factory, actions, syntax);
  // The block of later versions of MOOSE, so that one input runs in all of them.
  syntax.registerActionSyntax("CommonTensorMechanicsAction", "Physics/SolidMechanics/QuasiStatic");
  syntax.registerActionSyntax("TensorMechanicsAction", "Physics/SolidMechanics/QuasiStatic/*");
#endif
#if __has_include("HeatTransferApp.h")
  HeatTransferApp::registerAll(factory, actions, syntax);
#elif __has_include("HeatConductionApp.h")
  HeatConductionApp::registerAll(factory, actions, syntax);
#endif
}
}

InputParameters
MatlawApp::validParams()
{
  InputParameters params = MooseApp::validParams();
  params.set<bool>("use_legacy_material_output") = false;
  return params;
}

MatlawApp::MatlawApp(InputParameters parameters) : MooseApp(parameters)
{
  MatlawApp::registerAll(_factory, _action_factory, _syntax);
}

void
MatlawApp::registerObjects(Factory & factory, ActionFactory & actions, Syntax & syntax)
{
  Registry::registerObjectsTo(factory, {"MatlawApp"});
  Registry::registerActionsTo(actions, {"MatlawApp"});
  syntax.registerActionSyntax("MatlawAction", "Matlaw/*");
}

void
MatlawApp::registerAll(Factory & factory, ActionFactory & actions, Syntax & syntax)
{
  registerModules(factory, actions, syntax);
  registerObjects(factory, actions, syntax);
}

void
MatlawApp::registerApps()
{
  registerApp(MatlawApp);
}

// Entry points for applications that load this one at run time.
extern "C" void
MatlawApp__registerAll(Factory & factory, ActionFactory & actions, Syntax & syntax)
{
  MatlawApp::registerAll(factory, actions, syntax);
}

extern "C" void
MatlawApp__registerApps()
{
  MatlawApp::registerApps();
}
