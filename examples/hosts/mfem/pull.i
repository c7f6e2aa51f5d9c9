# The problem of pull.cpp for matlaw-fe: a block, clamped at x = 0 and pulled at x = 2. Units: mm, s, MPa, N.

[GlobalParams]
  displacements = 'disp_x disp_y disp_z'
[]

[Mesh]
  [block]
    type = GeneratedMeshGenerator
    dim = 3
    xmax = 2
    nx = 6
    ny = 3
    nz = 3
  []
[]

[Physics/SolidMechanics/QuasiStatic]
  [all]
    add_variables = true
    strain = SMALL
    save_in = 'force_x force_y force_z'
  []
[]

[Matlaw]
  [steel]
    input = 'aoti/model_aoti.i'
  []
[]

[AuxVariables]
  [force_x]
  []
  [force_y]
  []
  [force_z]
  []
[]

[BCs]
  [pulled_x]
    type = FunctionDirichletBC
    variable = disp_x
    boundary = right
    function = '0.01 * t'
  []
  [clamped_x]
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
[]

[Executioner]
  type = Transient
  solve_type = NEWTON
  petsc_options_iname = '-pc_type'
  petsc_options_value = 'lu'
  end_time = 1
  dt = 0.1
  dtmin = 1e-4
  nl_rel_tol = 1e-10
  nl_abs_tol = 1e-8
  nl_max_its = 15
[]

[Postprocessors]
  [force]
    type = NodalSum
    variable = force_x
    boundary = right
  []
[]

[Outputs]
  csv = true
[]
