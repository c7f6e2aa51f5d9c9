# With bar.i and umat.i: the kernels of MOOSE's Lagrangian system, on the stress that the UMAT gives.

[Physics/SolidMechanics/QuasiStatic]
  [all]
    new_system = true
    formulation = TOTAL
  []
[]

[Materials]
  [wrapped]
    type = ComputeLagrangianWrappedStress
  []
[]
