# A bar in tension whose modulus, a parameter of the law, is a function of place and time: the stress is uniform, the strain is not.

[GlobalParams]
  displacements = 'disp_x disp_y disp_z'
[]

[Mesh]
  [bar]
    type = GeneratedMeshGenerator
    dim = 3
    nx = 8
    xmax = 4
  []
[]

[Physics/SolidMechanics/QuasiStatic]
  [all]
    add_variables = true
    strain = SMALL
    generate_output = 'stress_xx strain_xx'
  []
[]

[Functions]
  [modulus]
    type = ParsedFunction
    value = '(100000 + 25000*x)*(1 - 0.1*t)'
  []
[]

[Matlaw]
  [steel]
    input = '../../../../examples/models/linear_elastic.i'
    law_parameters = 'model.E'
    moose_parameters = 'modulus'
  []
[]

[BCs]
  [left]
    type = DirichletBC
    variable = disp_x
    boundary = left
    value = 0
  []
  [bottom]
    type = DirichletBC
    variable = disp_y
    boundary = bottom
    value = 0
  []
  [back]
    type = DirichletBC
    variable = disp_z
    boundary = back
    value = 0
  []
  [right]
    type = FunctionDirichletBC
    variable = disp_x
    boundary = right
    function = '0.001*t'
  []
[]

[Executioner]
  type = Transient
  num_steps = 2
  dt = 1
  nl_rel_tol = 1e-10
  nl_abs_tol = 1e-8
[]

[Postprocessors]
  [stress_xx]
    type = ElementAverageValue
    variable = stress_xx
  []
  [strain_min]
    type = ElementExtremeValue
    variable = strain_xx
    value_type = min
  []
  [strain_max]
    type = ElementExtremeValue
    variable = strain_xx
  []
[]

[Outputs]
  csv = true
[]
