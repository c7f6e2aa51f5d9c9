# A bar with two notches, pulled at one end; half of its thickness, with symmetry at z = 0. Units: mm, s, MPa, N.
#
# The bar is stretched slowly at first, from t = 6 s on ten times as fast, and held from t = 7.2 s on. With the step that the
# slow part had grown to, the law's own Newton does not converge at some quadrature points: the step is cut and tried again
# from the old state until it does.

[GlobalParams]
  displacements = 'disp_x disp_y disp_z'
[]

[Mesh]
  [bar]
    type = GeneratedMeshGenerator
    dim = 3
    xmax = 30
    ymax = 10
    zmax = 3
    nx = 34
    ny = 14
    nz = 3
  []
  [notches]
    type = ParsedSubdomainMeshGenerator
    input = bar
    combinatorial_geometry = '(x - 15)^2 + y^2 < 2.6^2 | (x - 15)^2 + (y - 10)^2 < 2.6^2'
    block_id = 1
  []
  [notched]
    type = BlockDeletionGenerator
    input = notches
    block = 1
    new_boundary = notch
  []
[]

[Physics/SolidMechanics/QuasiStatic]
  [all]
    add_variables = true
    strain = SMALL
    volumetric_locking_correction = true
    generate_output = 'vonmises_stress stress_xx strain_xx'
    save_in = 'force_x force_y force_z'
  []
[]

[Matlaw]
  [steel]
    input = '../../out/demo/aoti/model_aoti.i'
  []
[]

[AuxVariables]
  [force_x]
  []
  [force_y]
  []
  [force_z]
  []
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

[Functions]
  [stretch]
    type = PiecewiseLinear
    x = '0 6    7.2  9'
    y = '0 0.03 0.09 0.09'
  []
[]

[BCs]
  [left_x]
    type = DirichletBC
    variable = disp_x
    boundary = left
    value = 0
  []
  [right_x]
    type = FunctionDirichletBC
    variable = disp_x
    boundary = right
    function = stretch
  []
  [ends_y]
    type = DirichletBC
    variable = disp_y
    boundary = 'left right'
    value = 0
  []
  [symmetry_z]
    type = DirichletBC
    variable = disp_z
    boundary = back
    value = 0
  []
[]

[Executioner]
  type = Transient
  solve_type = NEWTON
  petsc_options_iname = '-pc_type'
  petsc_options_value = 'lu'
  end_time = 9
  dtmin = 1e-3
  dtmax = 0.8
  nl_rel_tol = 1e-8
  nl_abs_tol = 1e-6
  nl_max_its = 15
  [TimeStepper]
    type = IterationAdaptiveDT
    dt = 0.2
    optimal_iterations = 8
    growth_factor = 1.4
    cutback_factor_at_failure = 0.5
  []
  [Predictor]
    type = SimplePredictor
    scale = 1
  []
[]

[Postprocessors]
  [elongation]
    type = AverageNodalVariableValue
    variable = disp_x
    boundary = right
  []
  [force]
    type = NodalSum
    variable = force_x
    boundary = right
  []
  [largest_vonmises_stress]
    type = ElementExtremeValue
    variable = vonmises_stress
  []
  [largest_plastic_strain]
    type = ElementExtremeValue
    variable = equivalent_plastic_strain
  []
  [dt]
    type = TimestepSize
  []
  [newton_iterations]
    type = NumNonlinearIterations
  []
[]

[Outputs]
  csv = true
  exodus = true
[]
