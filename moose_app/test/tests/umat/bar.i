# A clamped bar, pulled: mesh, boundary conditions and what is compared. The material comes from a second input file,
#
#     rabbit-opt -i bar.i umat.i Materials/umat/plugin=./steel
#
# so that the same bar runs with a UMAT plugin and with materials of MOOSE.

[GlobalParams]
  displacements = 'disp_x disp_y disp_z'
[]

[Mesh]
  [bar]
    type = GeneratedMeshGenerator
    dim = 3
    nx = 3
    xmax = 3
  []
  [halves]
    type = SubdomainBoundingBoxGenerator
    input = bar
    bottom_left = '0 0 0'
    top_right = '1 1 1'
    block_id = 1
  []
[]

[Physics/SolidMechanics/QuasiStatic]
  [all]
    add_variables = true
    strain = SMALL
    incremental = true
    generate_output = 'stress_xx stress_yy vonmises_stress strain_xx'
  []
[]

[Functions]
  [pull]
    type = PiecewiseLinear
    x = '0 1     1.5   2'
    y = '0 0.012 0.008 0.02'
  []
[]

[BCs]
  [left_x]
    type = DirichletBC
    variable = disp_x
    boundary = left
    value = 0
  []
  [clamped_y]
    type = DirichletBC
    variable = disp_y
    boundary = 'left right'
    value = 0
  []
  [clamped_z]
    type = DirichletBC
    variable = disp_z
    boundary = 'left right'
    value = 0
  []
  [right]
    type = FunctionDirichletBC
    variable = disp_x
    boundary = right
    function = pull
  []
[]

[Executioner]
  type = Transient
  solve_type = NEWTON
  petsc_options_iname = '-pc_type'
  petsc_options_value = 'lu'
  end_time = 2
  dtmin = 1e-4
  nl_rel_tol = 1e-12
  nl_abs_tol = 1e-9
  [TimeStepper]
    type = IterationAdaptiveDT
    dt = 0.1
    growth_factor = 1
    cutback_factor_at_failure = 0.5
  []
[]

[Postprocessors]
  [stress_xx]
    type = ElementAverageValue
    variable = stress_xx
  []
  [stress_yy]
    type = ElementExtremeValue
    variable = stress_yy
  []
  [vonmises]
    type = ElementExtremeValue
    variable = vonmises_stress
  []
  [strain_xx]
    type = ElementExtremeValue
    variable = strain_xx
  []
  [iterations]
    type = NumNonlinearIterations
  []
[]

[Outputs]
  csv = true
[]
