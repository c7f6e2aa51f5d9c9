# Simple shear of a cube up to 50 %, with the Lagrangian kernels and a law of the deformation gradient.

[GlobalParams]
  displacements = 'disp_x disp_y disp_z'
[]

[Mesh]
  [cube]
    type = GeneratedMeshGenerator
    dim = 3
    nx = 2
    ny = 2
    nz = 2
  []
[]

[Physics/SolidMechanics/QuasiStatic]
  [all]
    add_variables = true
    strain = FINITE
    new_system = true
    formulation = TOTAL
    generate_output = 'pk1_stress_xx pk1_stress_xy pk1_stress_yx'
  []
[]

[Matlaw]
  [rubber]
    input = 'saint_venant.i'
  []
[]

[BCs]
  [bottom_x]
    type = DirichletBC
    variable = disp_x
    boundary = bottom
    value = 0
  []
  [bottom_y]
    type = DirichletBC
    variable = disp_y
    boundary = bottom
    value = 0
  []
  [bottom_z]
    type = DirichletBC
    variable = disp_z
    boundary = bottom
    value = 0
  []
  [top_x]
    type = FunctionDirichletBC
    variable = disp_x
    boundary = top
    function = '0.5*t'
  []
  [top_y]
    type = DirichletBC
    variable = disp_y
    boundary = top
    value = 0
  []
  [top_z]
    type = DirichletBC
    variable = disp_z
    boundary = top
    value = 0
  []
[]

[Executioner]
  type = Transient
  end_time = 1
  dt = 0.25
  nl_rel_tol = 1e-10
  nl_abs_tol = 1e-9
[]

[Postprocessors]
  [pk1_xx]
    type = ElementAverageValue
    variable = pk1_stress_xx
  []
  [pk1_xy]
    type = ElementAverageValue
    variable = pk1_stress_xy
  []
  [pk1_yx]
    type = ElementAverageValue
    variable = pk1_stress_yx
  []
[]

[Outputs]
  csv = true
[]
