# J2 viscoplasticity of a mild steel: von Mises yield, Voce hardening, Perzyna overstress flow, implicit Euler.
#
# Units: MPa, s, strain without unit.
# E, nu: EN 1993-1-1, section 3.2.6, rounded. Yield stress and saturation (250 MPa, 100 MPa more): of the order of S235/S275.
# Exponent 5: G. R. Cowper, P. S. Symonds (Brown University, 1957), for mild steel. Reference stress: for illustration.
#
# Inputs: strain, t and the old values plastic_strain~1, equivalent_plastic_strain~1, t~1.
# Outputs: stress, plastic_strain, equivalent_plastic_strain.
#
# Newton's method finds the plastic strain and its equivalent. The power law makes the first residual of a large increment
# huge and lets it shrink by a constant factor per iteration until the last ones are quadratic: the larger the increment,
# the more iterations. max_its is where the law gives up and its host has to cut the step: at about 0.3 % of strain in a
# step of 1 s, 0.5 % in 0.1 s. As the first residual is huge, rel_tol is far below its default.

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
    saturated_hardening = 100
    saturation_rate = 20
  []
  [effective_stress]
    type = SR2Invariant
    invariant_type = VONMISES
    tensor = 'mandel_stress'
    invariant = 'effective_stress'
  []
  [yield]
    type = YieldFunction
    yield_stress = 250
    isotropic_hardening = 'isotropic_hardening'
  []
  [flow]
    type = ComposedModel
    models = 'effective_stress yield'
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
    reference_stress = 100
    exponent = 5
  []
  [plastic_strain_rate]
    type = AssociativePlasticFlow
  []
  [equivalent_plastic_strain_rate]
    type = AssociativeIsotropicPlasticHardening
  []
  [integrate_plastic_strain]
    type = SR2BackwardEulerTimeIntegration
    variable = 'plastic_strain'
  []
  [integrate_equivalent_plastic_strain]
    type = ScalarBackwardEulerTimeIntegration
    variable = 'equivalent_plastic_strain'
  []
  [system]
    type = ComposedModel
    models = 'elastic_strain elasticity mandel_stress hardening effective_stress yield normality flow_rate
              plastic_strain_rate equivalent_plastic_strain_rate integrate_plastic_strain
              integrate_equivalent_plastic_strain'
  []
  [predictor]
    type = ConstantExtrapolationPredictor
    unknowns_SR2 = 'plastic_strain'
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
    additional_outputs = 'plastic_strain equivalent_plastic_strain'
  []
[]

[EquationSystems]
  [equations]
    type = NonlinearSystem
    model = 'system'
    unknowns = 'plastic_strain equivalent_plastic_strain'
  []
[]

[Solvers]
  [newton]
    type = Newton
    rel_tol = 1e-12
    max_its = 16
    linear_solver = 'lu'
  []
  [lu]
    type = DenseLU
  []
[]
