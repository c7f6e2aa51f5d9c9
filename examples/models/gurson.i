# Plasticity of a porous metal: yield function of Gurson, Tvergaard and Needleman, growth of voids, Voce hardening.
#
# Units: MPa, strain and void fraction without unit; t only orders the steps. The flow rate is a multiplier of a yield
# function without unit, in MPa per unit of t.
# E, nu: EN 1993-1-1, section 3.2.6, rounded. Yield stress: of the order of S235/S275; saturation: for illustration.
# q1, q2, q3: V. Tvergaard, A. Needleman, Acta Metall. 32 (1984). Start from void_fraction~1 = 0.01 or so.
#
# Inputs: strain, t and the old values plastic_strain~1, equivalent_plastic_strain~1, void_fraction~1, t~1.
# Outputs: stress, plastic_strain, equivalent_plastic_strain, void_fraction, flow_rate.

[Models]
  [elastic_strain]
    type = SR2LinearCombination
    from = 'strain plastic_strain'
    to = 'elastic_strain'
    weights = '1 -1'
  []
  [elasticity]
    type = LinearIsotropicElasticity
    strain = 'elastic_strain'
    stress = 'stress'
    coefficients = '200000 0.3'
    coefficient_types = 'YOUNGS_MODULUS POISSONS_RATIO'
  []
  [mandel_stress]
    type = IsotropicMandelStress
    cauchy_stress = 'stress'
  []
  [hardening]
    type = VoceIsotropicHardening
    saturated_hardening = 200
    saturation_rate = 10
  []
  [effective_stress]
    type = SR2Invariant
    invariant_type = VONMISES
    tensor = 'mandel_stress'
    invariant = 'effective_stress'
  []
  [pressure_invariant]
    type = SR2Invariant
    invariant_type = I1
    tensor = 'mandel_stress'
    invariant = 'stress_trace'
  []
  [yielding]
    type = GTNYieldFunction
    flow_invariant = 'effective_stress'
    poro_invariant = 'stress_trace'
    isotropic_hardening = 'isotropic_hardening'
    yield_stress = 250
    q1 = 1.5
    q2 = 1.0
    q3 = 2.25
  []
  [flow]
    type = ComposedModel
    models = 'effective_stress pressure_invariant yielding'
  []
  [normality]
    type = Normality
    model = 'flow'
    function = 'yield_function'
    from = 'mandel_stress isotropic_hardening'
    to = 'flow_direction isotropic_hardening_direction'
  []
  [consistency]
    type = FBComplementarity
    a = 'yield_function'
    b = 'flow_rate'
    complementarity = 'flow_rate_residual'
  []
  [plastic_strain_rate]
    type = AssociativePlasticFlow
  []
  [equivalent_plastic_strain_rate]
    type = AssociativeIsotropicPlasticHardening
  []
  [void_growth]
    type = GursonCavitation
  []
  [integrate_plastic_strain]
    type = SR2BackwardEulerTimeIntegration
    variable = 'plastic_strain'
  []
  [integrate_equivalent_plastic_strain]
    type = ScalarBackwardEulerTimeIntegration
    variable = 'equivalent_plastic_strain'
  []
  [integrate_void_fraction]
    type = ScalarBackwardEulerTimeIntegration
    variable = 'void_fraction'
  []
  [system]
    type = ComposedModel
    models = 'elastic_strain elasticity mandel_stress hardening effective_stress pressure_invariant yielding
              normality consistency plastic_strain_rate equivalent_plastic_strain_rate void_growth
              integrate_plastic_strain integrate_equivalent_plastic_strain integrate_void_fraction'
  []
  [predictor]
    type = ConstantExtrapolationPredictor
    unknowns_SR2 = 'plastic_strain'
    unknowns_Scalar = 'equivalent_plastic_strain void_fraction flow_rate'
  []
  [update]
    type = ImplicitUpdate
    equation_system = 'equations'
    solver = 'newton'
    predictor = 'predictor'
  []
  [model]
    type = ComposedModel
    models = 'update elastic_strain elasticity'
    additional_outputs = 'plastic_strain equivalent_plastic_strain void_fraction'
  []
[]

[EquationSystems]
  [equations]
    type = NonlinearSystem
    model = 'system'
    unknowns = 'plastic_strain equivalent_plastic_strain void_fraction flow_rate'
  []
[]

[Solvers]
  [newton]
    type = Newton
    rel_tol = 1e-10
    max_its = 25
    linear_solver = 'lu'
  []
  [lu]
    type = DenseLU
  []
[]
