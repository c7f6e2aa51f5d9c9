# Patch test of MacNeal and Harder (1985): a displacement linear in x, y, z on the surface of seven distorted elements.
# Every element has the same strain, exx = 1e-3, eyy = -1e-3, ezz = 5e-4, eyz = -5e-4, exz = 1.5e-3, exy = 2e-3 (times t).

[GlobalParams]
  displacements = 'disp_x disp_y disp_z'
[]

[Mesh]
  [./patch]
    type = PatchMeshGenerator
    dim = 3
  [../]
[]

[Variables]
  [./disp_x]
  [../]
  [./disp_y]
  [../]
  [./disp_z]
  [../]
[]

[Kernels]
  [./x]
    type = StressDivergenceTensors
    variable = disp_x
    component = 0
  [../]
  [./y]
    type = StressDivergenceTensors
    variable = disp_y
    component = 1
  [../]
  [./z]
    type = StressDivergenceTensors
    variable = disp_z
    component = 2
  [../]
[]

[Materials]
  [./strain]
    type = ComputeSmallStrain
  [../]
[]

[Matlaw]
  [steel]
    input = '../../../../examples/models/linear_elastic.i'
  []
[]

[AuxVariables]
  [stress_xx]
    order = CONSTANT
    family = MONOMIAL
  []
  [stress_yy]
    order = CONSTANT
    family = MONOMIAL
  []
  [stress_zz]
    order = CONSTANT
    family = MONOMIAL
  []
  [stress_yz]
    order = CONSTANT
    family = MONOMIAL
  []
  [stress_xz]
    order = CONSTANT
    family = MONOMIAL
  []
  [stress_xy]
    order = CONSTANT
    family = MONOMIAL
  []
  [vonmises]
    order = CONSTANT
    family = MONOMIAL
  []
[]

[AuxKernels]
  [stress_xx]
    type = RankTwoAux
    variable = stress_xx
    rank_two_tensor = stress
    index_i = 0
    index_j = 0
  []
  [stress_yy]
    type = RankTwoAux
    variable = stress_yy
    rank_two_tensor = stress
    index_i = 1
    index_j = 1
  []
  [stress_zz]
    type = RankTwoAux
    variable = stress_zz
    rank_two_tensor = stress
    index_i = 2
    index_j = 2
  []
  [stress_yz]
    type = RankTwoAux
    variable = stress_yz
    rank_two_tensor = stress
    index_i = 1
    index_j = 2
  []
  [stress_xz]
    type = RankTwoAux
    variable = stress_xz
    rank_two_tensor = stress
    index_i = 0
    index_j = 2
  []
  [stress_xy]
    type = RankTwoAux
    variable = stress_xy
    rank_two_tensor = stress
    index_i = 0
    index_j = 1
  []
  [vonmises]
    type = RankTwoScalarAux
    variable = vonmises
    rank_two_tensor = stress
    scalar_type = VonMisesStress
  []
[]

[BCs]
  [x]
    type = FunctionDirichletBC
    variable = disp_x
    boundary = 'left right bottom top back front'
    function = 't*(1e-3*x + 3e-3*y + 2e-3*z)'
  []
  [y]
    type = FunctionDirichletBC
    variable = disp_y
    boundary = 'left right bottom top back front'
    function = 't*(1e-3*x - 1e-3*y - 2e-3*z)'
  []
  [z]
    type = FunctionDirichletBC
    variable = disp_z
    boundary = 'left right bottom top back front'
    function = 't*(1e-3*x + 1e-3*y + 5e-4*z)'
  []
[]

[Executioner]
  type = Transient
  solve_type = NEWTON
  end_time = 1
  dt = 0.5
[]

[Postprocessors]
  [stress_xx_min]
    type = ElementExtremeValue
    variable = stress_xx
    value_type = min
  []
  [stress_xx_max]
    type = ElementExtremeValue
    variable = stress_xx
  []
  [stress_yy_min]
    type = ElementExtremeValue
    variable = stress_yy
    value_type = min
  []
  [stress_yy_max]
    type = ElementExtremeValue
    variable = stress_yy
  []
  [stress_zz_min]
    type = ElementExtremeValue
    variable = stress_zz
    value_type = min
  []
  [stress_zz_max]
    type = ElementExtremeValue
    variable = stress_zz
  []
  [stress_yz_min]
    type = ElementExtremeValue
    variable = stress_yz
    value_type = min
  []
  [stress_yz_max]
    type = ElementExtremeValue
    variable = stress_yz
  []
  [stress_xz_min]
    type = ElementExtremeValue
    variable = stress_xz
    value_type = min
  []
  [stress_xz_max]
    type = ElementExtremeValue
    variable = stress_xz
  []
  [stress_xy_min]
    type = ElementExtremeValue
    variable = stress_xy
    value_type = min
  []
  [stress_xy_max]
    type = ElementExtremeValue
    variable = stress_xy
  []
  [vonmises_min]
    type = ElementExtremeValue
    variable = vonmises
    value_type = min
  []
  [vonmises_max]
    type = ElementExtremeValue
    variable = vonmises
  []
[]

[Outputs]
  csv = true
[]
