# Slow tension of a single crystal along an axis that is none of its own: the bar narrows unevenly.

[GlobalParams]
  displacements = 'disp_x disp_y disp_z'
[]

[Mesh]
  [cube]
    type = GeneratedMeshGenerator
    dim = 3
    nx = 2
  []
[]

[Physics/SolidMechanics/QuasiStatic]
  [all]
    add_variables = true
    strain = SMALL
    incremental = true
    generate_output = 'stress_xx strain_xx strain_yy strain_zz'
  []
[]

[AuxVariables]
  [slip_hardening]
    order = CONSTANT
    family = MONOMIAL
  []
[]

[AuxKernels]
  [slip_hardening]
    type = MaterialRealAux
    variable = slip_hardening
    property = slip_hardening
  []
[]

[Matlaw]
  [crystal]
    input = 'crystal.i'
  []
[]

[Functions]
  [strain]
    type = PiecewiseLinear
    x = '0 10'
    y = '0 0.0025'
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
    function = strain
  []
[]

[Executioner]
  type = Transient
  num_steps = 10
  dt = 1
  nl_rel_tol = 1e-10
  nl_abs_tol = 1e-8
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
  [strain_yy]
    type = ElementAverageValue
    variable = strain_yy
  []
  [strain_zz]
    type = ElementAverageValue
    variable = strain_zz
  []
  [slip_hardening]
    type = ElementAverageValue
    variable = slip_hardening
  []
[]

[Outputs]
  csv = true
[]
