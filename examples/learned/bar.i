# A bar under tension, unloaded, compressed and pulled again. Units: mm, MPa; one step a second.

[GlobalParams]
  displacements = 'disp_x disp_y disp_z'
[]

[Mesh]
  [bar]
    type = GeneratedMeshGenerator
    dim = 3
    nx = 2
    ny = 1
    nz = 1
    xmax = 2
  []
[]

[Physics/SolidMechanics/QuasiStatic]
  [all]
    add_variables = true
    strain = SMALL
    generate_output = 'stress_xx strain_xx'
  []
[]

[Matlaw]
  [steel]
    input = '../models/j2_plastic.i' # train.py puts the learned law here in a second run
  []
[]

[Functions]
  [pull]
    type = PiecewiseLinear
    x = '0 20 40 60'
    y = '0 0.06 -0.02 0.08'
  []
[]

[BCs]
  [x0]
    type = DirichletBC
    variable = disp_x
    boundary = left
    value = 0
  []
  [y0]
    type = DirichletBC
    variable = disp_y
    boundary = bottom
    value = 0
  []
  [z0]
    type = DirichletBC
    variable = disp_z
    boundary = back
    value = 0
  []
  [x]
    type = FunctionDirichletBC
    variable = disp_x
    boundary = right
    function = pull
  []
[]

[Executioner]
  type = Transient
  end_time = 60
  dt = 1
  nl_abs_tol = 1e-6
[]

[Postprocessors]
  [stress_xx]
    type = ElementAverageValue
    variable = stress_xx
  []
  [strain_xx]
    type = ElementAverageValue
    variable = strain_xx
  []
[]

[Outputs]
  csv = true
[]
