// The application, and how other applications get its objects.
#pragma once

#include "MooseApp.h"

/// MOOSE with solid mechanics, heat conduction and laws of matlaw.
class MatlawApp : public MooseApp
{
public:
  static InputParameters validParams();
  MatlawApp(InputParameters parameters);

  static void registerApps();
  /// Everything: the modules of this MOOSE and matlaw's objects.
  static void registerAll(Factory & factory, ActionFactory & actions, Syntax & syntax);
  /// matlaw's objects alone, for an application that registers modules itself.
  static void registerObjects(Factory & factory, ActionFactory & actions, Syntax & syntax);
};
