# A single crystal with 12 slip systems <110>{111} at small strain: isotropic elasticity, power law for the
# slip rates, Voce hardening alike on all systems, lattice held fixed.
#
# Units: MPa, s, strain without unit. Law: R. J. Asaro, J. Appl. Mech. 50 (1983), without rotation of the lattice.
# The axes of the crystal are turned by 30 degrees about z.
#
# Inputs: strain, t and the old values strain~1, elastic_strain~1, slip_hardening~1, t~1.
# Outputs: stress, elastic_strain, slip_hardening.

[Tensors]
  [directions]
    type = Python
    expr = 'MillerIndex(torch.tensor([[1, 1, 0]]), sub_batch_ndim=1)'
  []
  [planes]
    type = Python
    expr = 'MillerIndex(torch.tensor([[1, 1, 1]]), sub_batch_ndim=1)'
  []
  [turned]
    type = Python
    expr = 'R2.fill(0.8660254037844387, -0.5, 0, 0.5, 0.8660254037844387, 0, 0, 0, 1)'
  []
[]

[Data]
  [crystal_geometry]
    type = CubicCrystal
    lattice_parameter = 1.0
    slip_directions = 'directions'
    slip_planes = 'planes'
  []
[]

[Models]
  [orientation]
    type = R2ConstantParameter
    parameter = 'orientation_matrix'
    value = 'turned'
  []
  [elasticity]
    type = LinearIsotropicElasticity
    strain = 'elastic_strain'
    stress = 'stress'
    coefficients = '100000 0.25'
    coefficient_types = 'YOUNGS_MODULUS POISSONS_RATIO'
  []
  [resolved_shear]
    type = ResolvedShear
    stress = 'stress'
    orientation_matrix = 'orientation_matrix'
    resolved_shears = 'resolved_shears'
  []
  [strength]
    type = SingleSlipStrengthMap
    slip_hardening = 'slip_hardening'
    slip_strengths = 'slip_strengths'
    constant_strength = 50
  []
  [slip]
    type = PowerLawSlipRule
    resolved_shears = 'resolved_shears'
    slip_strengths = 'slip_strengths'
    slip_rates = 'slip_rates'
    gamma0 = 1e-3
    n = 8
  []
  [total_slip]
    type = SumSlipRates
    slip_rates = 'slip_rates'
    sum_slip_rates = 'sum_slip_rates'
  []
  [hardening]
    type = VoceSingleSlipHardeningRule
    slip_hardening = 'slip_hardening'
    sum_slip_rates = 'sum_slip_rates'
    slip_hardening_rate = 'slip_hardening_rate'
    initial_slope = 500
    saturated_hardening = 50
  []
  [plastic_rate]
    type = PlasticDeformationRate
    orientation_matrix = 'orientation_matrix'
    slip_rates = 'slip_rates'
    plastic_deformation_rate = 'plastic_deformation_rate'
  []
  [strain_rate]
    type = SR2VariableRate
    variable = 'strain'
  []
  [elastic_strain_rate]
    type = SR2LinearCombination
    from = 'strain_rate plastic_deformation_rate'
    to = 'elastic_strain_rate'
    weights = '1 -1'
  []
  [integrate_elastic_strain]
    type = SR2BackwardEulerTimeIntegration
    variable = 'elastic_strain'
  []
  [integrate_hardening]
    type = ScalarBackwardEulerTimeIntegration
    variable = 'slip_hardening'
  []
  [system]
    type = ComposedModel
    models = 'orientation elasticity resolved_shear strength slip total_slip hardening plastic_rate strain_rate
              elastic_strain_rate integrate_elastic_strain integrate_hardening'
  []
  [predictor]
    type = ConstantExtrapolationPredictor
    unknowns_SR2 = 'elastic_strain'
    unknowns_Scalar = 'slip_hardening'
  []
  [update]
    type = ImplicitUpdate
    equation_system = 'equations'
    solver = 'newton'
    predictor = 'predictor'
  []
  [model]
    type = ComposedModel
    models = 'update elasticity'
    additional_outputs = 'elastic_strain slip_hardening'
  []
[]

[EquationSystems]
  [equations]
    type = NonlinearSystem
    model = 'system'
    unknowns = 'elastic_strain slip_hardening'
  []
[]

[Solvers]
  [newton]
    type = NewtonWithLineSearch
    rel_tol = 1e-12
    max_its = 50
    linear_solver = 'lu'
  []
  [lu]
    type = DenseLU
  []
[]
