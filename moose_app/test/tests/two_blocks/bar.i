# A bar of two halves in series, one elastic and one viscoplastic: each block has its own law, the force is the same.

[GlobalParams]
  displacements = 'disp_x disp_y disp_z'
[]

[Mesh]
  [bar]
    type = GeneratedMeshGenerator
    dim = 3
    nx = 4
    xmax = 4
  []
  [halves]
    type = SubdomainBoundingBoxGenerator
    input = bar
    block_id = 1
    bottom_left = '2 0 0'
    top_right = '4 1 1'
  []
[]

[Physics/SolidMechanics/QuasiStatic]
  [all]
    add_variables = true
    strain = SMALL
    generate_output = 'stress_xx strain_xx'
  []
[]

[Matlaw]
  [elastic]
    input = '../../../../examples/models/linear_elastic.i'
    block = '0'
  []
  [viscoplastic]
    input = '../../../../examples/models/j2_viscoplastic.i'
    block = '1'
  []
[]

[AuxVariables]
  [equivalent_plastic_strain]
    order = CONSTANT
    family = MONOMIAL
    block = '1'
  []
[]

[AuxKernels]
  [equivalent_plastic_strain]
    type = MaterialRealAux
    variable = equivalent_plastic_strain
    property = equivalent_plastic_strain
    block = '1'
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
    function = '0.003*t'
  []
[]

[Executioner]
  type = Transient
  num_steps = 5
  dt = 1
  nl_rel_tol = 1e-10
  nl_abs_tol = 1e-8
[]

[Postprocessors]
  [stress_elastic]
    type = ElementAverageValue
    variable = stress_xx
    block = '0'
  []
  [stress_viscoplastic]
    type = ElementAverageValue
    variable = stress_xx
    block = '1'
  []
  [strain_elastic]
    type = ElementAverageValue
    variable = strain_xx
    block = '0'
  []
  [strain_viscoplastic]
    type = ElementAverageValue
    variable = strain_xx
    block = '1'
  []
  [equivalent_plastic_strain]
    type = ElementAverageValue
    variable = equivalent_plastic_strain
    block = '1'
  []
[]

[Outputs]
  csv = true
[]
