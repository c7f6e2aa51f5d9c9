# Two strain cycles of a bar of Chaboche viscoplasticity: the stress amplitude grows, the loops shift.

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
    generate_output = 'stress_xx strain_xx strain_yy'
  []
[]

[AuxVariables]
  [equivalent_plastic_strain]
    order = CONSTANT
    family = MONOMIAL
  []
  [back_stress]
    order = CONSTANT
    family = MONOMIAL
  []
[]

[AuxKernels]
  [equivalent_plastic_strain]
    type = MaterialRealAux
    variable = equivalent_plastic_strain
    property = equivalent_plastic_strain
  []
  [back_stress]
    type = RankTwoAux
    variable = back_stress
    rank_two_tensor = X1
    index_i = 0
    index_j = 0
  []
[]

[Matlaw]
  [steel]
    input = '../../../../examples/models/chaboche2.i'
  []
[]

[Functions]
  [strain]
    type = PiecewiseLinear
    x = '0 1     3      5     7      8'
    y = '0 0.004 -0.004 0.004 -0.004 0'
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
  end_time = 8
  dt = 0.25
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
  [equivalent_plastic_strain]
    type = ElementAverageValue
    variable = equivalent_plastic_strain
  []
  [back_stress]
    type = ElementAverageValue
    variable = back_stress
  []
[]

[Outputs]
  csv = true
[]
