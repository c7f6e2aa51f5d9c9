# Uniaxial tension of J2 viscoplasticity with a jump that is too much for one step of the law.

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

[Functions]
  [strain]
    type = PiecewiseLinear
    x = '0 2     3     5'
    y = '0 0.002 0.022 0.022'
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
  end_time = 5
  nl_rel_tol = 1e-10
  nl_abs_tol = 1e-9
  [TimeStepper]
    type = IterationAdaptiveDT
    dt = 1
    growth_factor = 2
  []
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
  [dt]
    type = TimestepSize
  []
[]

[Outputs]
  csv = true
[]
