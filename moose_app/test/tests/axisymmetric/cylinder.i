# A thick cylinder of J2 viscoplasticity under inner pressure, its length held: radii 1 and 2 mm, axis along y.

[GlobalParams]
  displacements = 'disp_r disp_z'
[]

[Problem]
  coord_type = RZ
[]

[Mesh]
  [wall]
    type = GeneratedMeshGenerator
    dim = 2
    nx = 8
    ny = 1
    xmin = 1
    xmax = 2
    ymax = 0.5
  []
[]

[Physics/SolidMechanics/QuasiStatic]
  [all]
    add_variables = true
    strain = SMALL
    generate_output = 'stress_xx stress_yy stress_zz vonmises_stress'
  []
[]

[Matlaw]
  [steel]
    input = '../../../../examples/models/j2_viscoplastic.i'
  []
[]

[BCs]
  [bottom]
    type = DirichletBC
    variable = disp_z
    boundary = bottom
    value = 0
  []
  [top]
    type = DirichletBC
    variable = disp_z
    boundary = top
    value = 0
  []
  [inside]
    type = Pressure
    variable = disp_r
    boundary = left
    component = 0
    function = '20*t'
  []
[]

[Executioner]
  type = Transient
  num_steps = 8
  dt = 1
  nl_rel_tol = 1e-10
  nl_abs_tol = 1e-8
[]

[Postprocessors]
  [radial_min]
    type = ElementExtremeValue
    variable = stress_xx
    value_type = min
  []
  [hoop_max]
    type = ElementExtremeValue
    variable = stress_zz
  []
  [axial]
    type = ElementAverageValue
    variable = stress_yy
  []
  [vonmises_max]
    type = ElementExtremeValue
    variable = vonmises_stress
  []
  [bore]
    type = AverageNodalVariableValue
    variable = disp_r
    boundary = left
  []
  [outside]
    type = AverageNodalVariableValue
    variable = disp_r
    boundary = right
  []
[]

[Outputs]
  csv = true
[]
