# A run that is stopped half-way and goes on from a checkpoint: J2 viscoplasticity in tension, then relaxation.

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
    generate_output = 'stress_xx strain_xx'
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
    input = '../../../../examples/models/j2_viscoplastic.i'
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
    function = '0.001*min(t, 6)'
  []
[]

[Executioner]
  type = Transient
  num_steps = 10
  dt = 1
  nl_rel_tol = 1e-10
  nl_abs_tol = 1e-9
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
  [equivalent_plastic_strain]
    type = ElementAverageValue
    variable = equivalent_plastic_strain
  []
[]

[Outputs]
  csv = true
[]
