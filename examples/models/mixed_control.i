# A material point with some components of strain and the other components of stress prescribed: J2 viscoplasticity.
#
# Where the control signal is above 0.5 the stress is prescribed, elsewhere the strain; the unknown `conjugate` holds
# the other one, component by component. For uniaxial stress along x and a strain e: control = 0 1 1 1 1 1,
# prescribed = e 0 0 0 0 0.
#
# Units: MPa, s, strain without unit. Components: xx, yy, zz, sqrt2 yz, sqrt2 xz, sqrt2 xy.
# Law and values: as in j2_viscoplastic.i.
#
# Inputs: control, prescribed, t and the old values conjugate~1, plastic_strain~1, equivalent_plastic_strain~1, t~1.
# Outputs: strain, stress, conjugate, plastic_strain, equivalent_plastic_strain.

[Models]
  [control]
    type = MixedControlSetup
    control = 'control'
    x_above = 'prescribed'
    x_below = 'conjugate'
    y = 'target_stress'
    z = 'strain'
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
  [mandel_stress]
    type = IsotropicMandelStress
    cauchy_stress = 'stress'
  []
  [stress_difference]
    type = SR2LinearCombination
    from = 'stress target_stress'
    to = 'conjugate_residual'
    weights = '1 -1'
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
  [yielding]
    type = YieldFunction
    yield_stress = 250
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
    models = 'control elastic_strain elasticity mandel_stress stress_difference hardening effective_stress
              yielding normality flow_rate plastic_strain_rate equivalent_plastic_strain_rate
              integrate_plastic_strain integrate_equivalent_plastic_strain'
  []
  [predictor]
    type = ConstantExtrapolationPredictor
    unknowns_SR2 = 'conjugate plastic_strain'
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
    models = 'update control elastic_strain elasticity'
    additional_outputs = 'conjugate strain plastic_strain equivalent_plastic_strain'
  []
[]

[EquationSystems]
  [equations]
    type = NonlinearSystem
    model = 'system'
    unknowns = 'conjugate plastic_strain equivalent_plastic_strain'
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
