# A cube clamped at one end and pulled at the other, in plastic flow from the first steps on. Units: mm, MPa.

[GlobalParams]
  displacements = 'disp_x disp_y disp_z'
[]
[Mesh]
  [cube]
    type = GeneratedMeshGenerator
    dim = 3
    nx = 20
    ny = 20
    nz = 20
  []
[]
[Physics/SolidMechanics/QuasiStatic]
  [all]
    add_variables = true
    strain = SMALL
    generate_output = 'vonmises_stress'
  []
[]
[Matlaw]
  [steel]
    input = '../examples/models/j2_plastic.i'
  []
[]
[BCs]
  [x]
    type = DirichletBC
    variable = disp_x
    boundary = 'back front'
    value = 0
  []
  [y]
    type = DirichletBC
    variable = disp_y
    boundary = 'back front'
    value = 0
  []
  [z0]
    type = DirichletBC
    variable = disp_z
    boundary = 'back'
    value = 0
  []
  [z]
    type = FunctionDirichletBC
    variable = disp_z
    boundary = 'front'
    function = 't*0.0015'
  []
[]
[Executioner]
  type = Transient
  num_steps = 10
  nl_abs_tol = 1e-8
  dt = 1
  [Predictor]
    type = SimplePredictor
    scale = 1
  []
[]
[Postprocessors]
  [s]
    type = ElementAverageValue
    variable = vonmises_stress
  []
[]
