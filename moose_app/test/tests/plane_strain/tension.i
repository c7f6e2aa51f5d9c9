# A strip of J2 plasticity in plane strain, pulled at its right end with the left end held: a plate that cannot contract.

[GlobalParams]
  displacements = 'disp_x disp_y'
[]

[Mesh]
  [strip]
    type = GeneratedMeshGenerator
    dim = 2
    nx = 6
    ny = 3
    xmax = 2
  []
[]

[Physics/SolidMechanics/QuasiStatic]
  [all]
    add_variables = true
    strain = SMALL
    planar_formulation = PLANE_STRAIN
    generate_output = 'stress_xx stress_yy stress_zz vonmises_stress'
  []
[]

[AuxVariables]
  [equivalent_plastic_strain]
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
[]

[Matlaw]
  [steel]
    input = '../../../../examples/models/j2_plastic.i'
  []
[]

[BCs]
  [left_x]
    type = DirichletBC
    variable = disp_x
    boundary = left
    value = 0
  []
  [left_y]
    type = DirichletBC
    variable = disp_y
    boundary = left
    value = 0
  []
  [right_x]
    type = FunctionDirichletBC
    variable = disp_x
    boundary = right
    function = '0.004*t'
  []
[]

[Executioner]
  type = Transient
  num_steps = 5
  dt = 0.25
  nl_rel_tol = 1e-10
  nl_abs_tol = 1e-8
[]

[Postprocessors]
  [stress_xx]
    type = ElementAverageValue
    variable = stress_xx
  []
  [stress_yy]
    type = ElementAverageValue
    variable = stress_yy
  []
  [stress_zz]
    type = ElementAverageValue
    variable = stress_zz
  []
  [vonmises_max]
    type = ElementExtremeValue
    variable = vonmises_stress
  []
  [equivalent_plastic_strain]
    type = ElementExtremeValue
    variable = equivalent_plastic_strain
  []
  [contraction]
    type = AverageNodalVariableValue
    variable = disp_y
    boundary = top
  []
[]

[Outputs]
  csv = true
[]
