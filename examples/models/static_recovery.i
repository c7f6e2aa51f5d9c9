# Viscoplasticity whose isotropic hardening recovers with time: Voce hardening as a rate, power-law recovery.
#
# Units: MPa, s, strain without unit.
# E, nu: EN 1993-1-1, section 3.2.6, rounded. All other values: for illustration.
# Source of the law: J. L. Chaboche, Int. J. Plast. 24 (2008), section 3.
#
# Inputs: strain, t and the old values plastic_strain~1, isotropic_hardening~1, t~1.
# Outputs: stress, plastic_strain, isotropic_hardening.

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
  [effective_stress]
    type = SR2Invariant
    invariant_type = VONMISES
    tensor = 'mandel_stress'
    invariant = 'effective_stress'
  []
  [yielding]
    type = YieldFunction
    yield_stress = 100
    isotropic_hardening = 'isotropic_hardening'
  []
  [flow]
    type = ComposedModel
    models = 'effective_stress yielding'
  []
  [normality]
    type = Normality
    model = 'flow'
    function = 'yield_function'
    from = 'mandel_stress'
    to = 'flow_direction'
  []
  [flow_rate]
    type = PerzynaPlasticFlowRate
    reference_stress = 100
    exponent = 5
  []
  [plastic_strain_rate]
    type = AssociativePlasticFlow
  []
  [hardening_rate]
    type = SlopeSaturationVoceIsotropicHardening
    saturated_hardening = 100
    initial_hardening_rate = 2000
    isotropic_hardening_rate = 'hardening_rate'
  []
  [recovery_rate]
    type = PowerLawIsotropicHardeningStaticRecovery
    tau = 1000
    n = 2
    isotropic_hardening_rate = 'recovery_rate'
  []
  [isotropic_hardening_rate]
    type = ScalarLinearCombination
    from = 'hardening_rate recovery_rate'
    to = 'isotropic_hardening_rate'
  []
  [integrate_plastic_strain]
    type = SR2BackwardEulerTimeIntegration
    variable = 'plastic_strain'
  []
  [integrate_isotropic_hardening]
    type = ScalarBackwardEulerTimeIntegration
    variable = 'isotropic_hardening'
  []
  [system]
    type = ComposedModel
    models = 'elastic_strain elasticity mandel_stress effective_stress yielding normality flow_rate
              plastic_strain_rate hardening_rate recovery_rate isotropic_hardening_rate integrate_plastic_strain
              integrate_isotropic_hardening'
  []
  [predictor]
    type = ConstantExtrapolationPredictor
    unknowns_SR2 = 'plastic_strain'
    unknowns_Scalar = 'isotropic_hardening'
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
    additional_outputs = 'plastic_strain isotropic_hardening'
  []
[]

[EquationSystems]
  [equations]
    type = NonlinearSystem
    model = 'system'
    unknowns = 'plastic_strain isotropic_hardening'
  []
[]

[Solvers]
  [newton]
    type = Newton
    rel_tol = 1e-12
    max_its = 30
    linear_solver = 'lu'
  []
  [lu]
    type = DenseLU
  []
[]
