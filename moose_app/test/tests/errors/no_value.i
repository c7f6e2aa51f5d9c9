# A law with an input that nothing here gives its values.

[GlobalParams]
  displacements = 'disp_x disp_y disp_z'
[]

[Mesh]
  [cube]
    type = GeneratedMeshGenerator
    dim = 3
  []
[]

[Physics/SolidMechanics/QuasiStatic]
  [all]
    add_variables = true
    strain = SMALL
    generate_output = 'stress_xx stress_yy strain_xx strain_yy'
  []
[]

[Matlaw]
  [steel]
    input = 'needs_modulus.i'
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
  [pressure]
    type = Pressure
    component = 0
    variable = disp_x
    boundary = right
    function = '100*t'
    use_displaced_mesh = false
  []
[]

[Executioner]
  type = Transient
  num_steps = 2
  dt = 1
[]

[Postprocessors]
  [stress_xx]
    type = ElementAverageValue
    variable = stress_xx
  []
  [stress_yy_abs]
    type = ElementExtremeValue
    variable = stress_yy
    value_type = max
  []
  [shortening]
    type = AverageNodalVariableValue
    variable = disp_x
    boundary = right
  []
  [widening]
    type = AverageNodalVariableValue
    variable = disp_y
    boundary = top
  []
  [force]
    type = SidesetReaction
    boundary = right
    direction = '1 0 0'
    stress_tensor = stress
    use_displaced_mesh = false
  []
[]

[Outputs]
  csv = true
[]
