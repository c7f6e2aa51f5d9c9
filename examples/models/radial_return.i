# J2 viscoplasticity by radial return: the law of j2_viscoplastic.i with a single scalar unknown.
#
# The direction of flow is that of the trial stress, so only the equivalent plastic strain has to be solved for. The
# factor sqrt(2/3) turns the flow rate, conjugate to a yield function of unit gradient, into the equivalent plastic
# strain rate.
#
# Units: MPa, s, strain without unit. Values: as in j2_viscoplastic.i.
# Source of the law: J. C. Simo, T. J. R. Hughes, Computational Inelasticity, Springer 1998, section 3.3.
#
# Inputs: strain, t and the old values plastic_strain~1, equivalent_plastic_strain~1, t~1.
# Outputs: stress, plastic_strain, equivalent_plastic_strain.

[Models]
  [trial_elastic_strain]
    type = SR2LinearCombination
    from = 'strain plastic_strain~1'
    to = 'trial_elastic_strain'
    weights = '1 -1'
  []
  [trial_elasticity]
    type = LinearIsotropicElasticity
    strain = 'trial_elastic_strain'
    stress = 'trial_stress'
    coefficients = '200000 0.3'
    coefficient_types = 'YOUNGS_MODULUS POISSONS_RATIO'
  []
  [mandel_stress]
    type = IsotropicMandelStress
    cauchy_stress = 'trial_stress'
  []
  [direction]
    type = AssociativeJ2FlowDirection
  []
  [trial_effective_stress]
    type = SR2Invariant
    invariant_type = VONMISES
    tensor = 'mandel_stress'
    invariant = 'elastic_trial_stress'
  []
  [trial]
    type = ComposedModel
    models = 'trial_elastic_strain trial_elasticity mandel_stress direction trial_effective_stress'
  []
  [effective_stress]
    type = LinearIsotropicElasticJ2TrialStressUpdate
    updated_trial_stress = 'effective_stress'
    coefficients = '200000 0.3'
    coefficient_types = 'YOUNGS_MODULUS POISSONS_RATIO'
  []
  [hardening]
    type = VoceIsotropicHardening
    saturated_hardening = 100
    saturation_rate = 20
  []
  [yielding]
    type = YieldFunction
    yield_stress = 250
    isotropic_hardening = 'isotropic_hardening'
  []
  [flow_rate]
    type = PerzynaPlasticFlowRate
    reference_stress = 100
    exponent = 5
  []
  [equivalent_plastic_strain_rate]
    type = ScalarLinearCombination
    from = 'flow_rate'
    to = 'equivalent_plastic_strain_rate'
    weights = 0.816496580927726
  []
  [integrate_equivalent_plastic_strain]
    type = ScalarBackwardEulerTimeIntegration
    variable = 'equivalent_plastic_strain'
  []
  [final_rate]
    type = ScalarVariableRate
    variable = 'equivalent_plastic_strain'
  []
  [plastic_strain_rate]
    type = AssociativePlasticFlow
    flow_rate = 'equivalent_plastic_strain_rate'
  []
  [plastic_strain]
    type = SR2ForwardEulerTimeIntegration
    variable = 'plastic_strain'
  []
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
  [system]
    type = ComposedModel
    models = 'effective_stress hardening yielding flow_rate equivalent_plastic_strain_rate
              integrate_equivalent_plastic_strain'
  []
  [predictor]
    type = ConstantExtrapolationPredictor
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
    models = 'trial update final_rate plastic_strain_rate plastic_strain elastic_strain elasticity'
    additional_outputs = 'plastic_strain equivalent_plastic_strain'
  []
[]

[EquationSystems]
  [equations]
    type = NonlinearSystem
    model = 'system'
    unknowns = 'equivalent_plastic_strain'
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
