# Chaboche viscoplasticity with 2 back stresses: von Mises yield, Voce hardening, Perzyna flow, implicit Euler.
#
# Units: MPa, s, strain without unit.
# E, nu: EN 1993-1-1, section 3.2.6, rounded. All other values: for illustration, of the order of those for austenitic
# steel in J. L. Chaboche, Int. J. Plast. 24 (2008), which is the source of the law too.
#
# Inputs: strain, t and the old values plastic_strain~1, equivalent_plastic_strain~1, X1~1 ... X2~1, t~1.
# Outputs: stress, plastic_strain, equivalent_plastic_strain, X1 ... X2.

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
    saturated_hardening = 60
    saturation_rate = 10
  []
  [overstress]
    type = SR2LinearCombination
    from = 'mandel_stress X1 X2'
    to = 'overstress'
    weights = '1 -1 -1'
  []
  [effective_stress]
    type = SR2Invariant
    invariant_type = VONMISES
    tensor = 'overstress'
    invariant = 'effective_stress'
  []
  [yielding]
    type = YieldFunction
    yield_stress = 120
    isotropic_hardening = 'isotropic_hardening'
  []
  [flow]
    type = ComposedModel
    models = 'overstress effective_stress yielding'
  []
  [normality]
    type = Normality
    model = 'flow'
    function = 'yield_function'
    from = 'mandel_stress isotropic_hardening'
    to = 'flow_direction isotropic_hardening_direction'
  []
  [flow_rate]
    type = PerzynaPlasticFlowRate
    reference_stress = 150
    exponent = 6
  []
  [plastic_strain_rate]
    type = AssociativePlasticFlow
  []
  [equivalent_plastic_strain_rate]
    type = AssociativeIsotropicPlasticHardening
  []
  [X1_rate]
    type = ChabochePlasticHardening
    back_stress = 'X1'
    C = 80000
    g = 800
    A = 1e-8
    a = 2.5
  []
  [X2_rate]
    type = ChabochePlasticHardening
    back_stress = 'X2'
    C = 20000
    g = 200
    A = 1e-8
    a = 2.5
  []
  [integrate_plastic_strain]
    type = SR2BackwardEulerTimeIntegration
    variable = 'plastic_strain'
  []
  [integrate_equivalent_plastic_strain]
    type = ScalarBackwardEulerTimeIntegration
    variable = 'equivalent_plastic_strain'
  []
  [integrate_X1]
    type = SR2BackwardEulerTimeIntegration
    variable = 'X1'
  []
  [integrate_X2]
    type = SR2BackwardEulerTimeIntegration
    variable = 'X2'
  []
  [system]
    type = ComposedModel
    models = 'elastic_strain elasticity mandel_stress hardening overstress effective_stress yielding normality
              flow_rate plastic_strain_rate equivalent_plastic_strain_rate X1_rate X2_rate
              integrate_plastic_strain integrate_equivalent_plastic_strain integrate_X1 integrate_X2'
  []
  [predictor]
    type = ConstantExtrapolationPredictor
    unknowns_SR2 = 'plastic_strain X1 X2'
    unknowns_Scalar = 'equivalent_plastic_strain'
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
    additional_outputs = 'plastic_strain equivalent_plastic_strain X1 X2'
  []
[]

[EquationSystems]
  [equations]
    type = NonlinearSystem
    model = 'system'
    unknowns = 'plastic_strain equivalent_plastic_strain X1 X2'
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
