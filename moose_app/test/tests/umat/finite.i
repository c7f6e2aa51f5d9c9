# With bar.i: the finite strain calculator, and ten times the displacement.

[Physics/SolidMechanics/QuasiStatic]
  [all]
    strain = FINITE
  []
[]

[Functions]
  [pull]
    y = '0 0.12 0.08 0.2'
  []
[]
