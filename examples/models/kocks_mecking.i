# Flow of a metal from room temperature to creep: the regime switch of Kocks and Mecking, without hardening.
#
# Below a critical activation energy the yield stress is constant and the flow rate independent; above, the flow is a
# power law whose exponent and reference stress depend on temperature. The rate-independent flow rate has no predictor:
# starting from zero keeps the equations regular when the regime changes within a step, as it does when loading pauses.
#
# Units: MPa, mm, s, K, strain without unit; Boltzmann's constant in mJ/K.
# E, nu: EN 1993-1-1, section 3.2.6, rounded. Slope, intercept and level (A, B, C), shear modulus and
# reference rate: for illustration, of the order of those for austenitic steel.
# Source of the law: U. F. Kocks, H. Mecking, Prog. Mater. Sci. 48 (2003).
#
# Inputs: strain, temperature, t and the old values strain~1, plastic_strain~1, t~1.
# Outputs: stress, plastic_strain, rate_independent_flow_rate.

[Models]
  [strain_rate]
    type = SR2VariableRate
    variable = 'strain'
  []
  [effective_strain_rate]
    type = SR2Invariant
    invariant_type = EFFECTIVE_STRAIN
    tensor = 'strain_rate'
    invariant = 'effective_strain_rate'
  []
  [activation_energy]
    type = KocksMeckingActivationEnergy
    strain_rate = 'effective_strain_rate'
    shear_modulus = 76000
    eps0 = 1e10
    k = 1.380649e-20
    b = 2.5e-7
  []
  [g0]
    type = KocksMeckingIntercept
    intercept = 'g0'
    A = -10
    B = -1.4
    C = -5
  []
  [athermal_yield_stress]
    type = KocksMeckingYieldStress
    yield_stress = 'athermal_yield_stress'
    C = -5
    shear_modulus = 76000
  []
  [rate_exponent]
    type = KocksMeckingRateSensitivity
    rate_sensitivity = 'rate_exponent'
    A = -10
    shear_modulus = 76000
    k = 1.380649e-20
    b = 2.5e-7
  []
  [flow_viscosity]
    type = KocksMeckingFlowViscosity
    viscosity = 'flow_viscosity'
    A = -10
    B = -1.4
    shear_modulus = 76000
    eps0 = 1e10
    k = 1.380649e-20
    b = 2.5e-7
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
  [effective_stress]
    type = SR2Invariant
    invariant_type = VONMISES
    tensor = 'mandel_stress'
    invariant = 'effective_stress'
  []
  [yielding]
    type = YieldFunction
    yield_stress = 'athermal_yield_stress'
  []
  [viscous_yielding]
    type = YieldFunction
    yield_stress = 0
    yield_function = 'viscous_overstress'
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
  [rate_independent_flow]
    type = FBComplementarity
    a = 'yield_function'
    b = 'rate_independent_flow_rate'
    complementarity = 'rate_independent_flow_rate_residual'
  []
  [rate_dependent_flow]
    type = PerzynaPlasticFlowRate
    yield_function = 'viscous_overstress'
    flow_rate = 'rate_dependent_flow_rate'
    reference_stress = 'flow_viscosity'
    exponent = 'rate_exponent'
  []
  [flow_rate]
    type = KocksMeckingFlowSwitch
    g0 = 'g0'
    sharpness = 100
  []
  [plastic_strain_rate]
    type = AssociativePlasticFlow
  []
  [integrate_plastic_strain]
    type = SR2BackwardEulerTimeIntegration
    variable = 'plastic_strain'
  []
  [system]
    type = ComposedModel
    models = 'strain_rate effective_strain_rate activation_energy elastic_strain elasticity mandel_stress
              effective_stress yielding viscous_yielding normality rate_independent_flow rate_dependent_flow
              flow_rate plastic_strain_rate integrate_plastic_strain'
  []
  [predictor]
    type = ConstantExtrapolationPredictor
    unknowns_SR2 = 'plastic_strain'
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
    additional_outputs = 'plastic_strain'
  []
[]

[EquationSystems]
  [equations]
    type = NonlinearSystem
    model = 'system'
    unknowns = 'plastic_strain rate_independent_flow_rate'
  []
[]

[Solvers]
  [newton]
    type = Newton
    rel_tol = 1e-10
    max_its = 50
    linear_solver = 'lu'
  []
  [lu]
    type = DenseLU
  []
[]
