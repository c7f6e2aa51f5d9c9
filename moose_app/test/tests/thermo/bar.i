# A bar between rigid walls is heated from one end: conduction, and a law of strain and temperature.

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

[Variables]
  [temperature]
    initial_condition = 300
  []
[]

[Kernels]
  [conduction]
    type = HeatConduction
    use_displaced_mesh = false
    variable = temperature
  []
  [storage]
    type = HeatConductionTimeDerivative
    use_displaced_mesh = false
    variable = temperature
  []
[]

[Physics/SolidMechanics/QuasiStatic]
  [all]
    add_variables = true
    strain = SMALL
    generate_output = 'stress_xx stress_yy'
  []
[]

[Materials]
  [heat]
    type = GenericConstantMaterial
    prop_names = 'thermal_conductivity specific_heat density'
    prop_values = '1 1 1'
  []
[]

[Matlaw]
  [steel]
    input = 'thermoelastic.i'
  []
[]

[BCs]
  [left]
    type = DirichletBC
    variable = disp_x
    boundary = left
    value = 0
  []
  [right]
    type = DirichletBC
    variable = disp_x
    boundary = right
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
  [hot]
    type = FunctionDirichletBC
    variable = temperature
    boundary = left
    function = '300 + 100*t'
  []
[]

[Executioner]
  type = Transient
  num_steps = 4
  dt = 1
  nl_rel_tol = 1e-10
  nl_abs_tol = 1e-9
  nl_max_its = 30
[]

[Postprocessors]
  [temperature]
    type = ElementAverageValue
    variable = temperature
  []
  [stress_xx]
    type = ElementAverageValue
    variable = stress_xx
  []
  [stress_yy_max]
    type = ElementExtremeValue
    variable = stress_yy
  []
  [growth]
    type = NodalExtremeValue
    variable = disp_y
  []
[]

[Outputs]
  csv = true
[]
