# J2 plasticity with Prager's linear kinematic hardening, rate independent, implicit Euler.
#
# Units: MPa, strain without unit; t only orders the steps.
# E, nu: EN 1993-1-1, section 3.2.6, rounded. Yield stress: of the order of S235/S275; modulus: for illustration.
# Source of the law: W. Prager, J. Appl. Mech. 23 (1956).
#
# Inputs: strain, t and the old values plastic_strain~1, kinematic_plastic_strain~1, t~1.
# Outputs: stress, plastic_strain, kinematic_plastic_strain, flow_rate.

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
    type = LinearKinematicHardening
    hardening_modulus = 4000
  []
  [overstress]
    type = SR2LinearCombination
    from = 'mandel_stress back_stress'
    to = 'overstress'
    weights = '1 -1'
  []
  [effective_stress]
    type = SR2Invariant
    invariant_type = VONMISES
    tensor = 'overstress'
    invariant = 'effective_stress'
  []
  [yielding]
    type = YieldFunction
    yield_stress = 250
  []
  [flow]
    type = ComposedModel
    models = 'overstress effective_stress yielding'
  []
  [normality]
    type = Normality
    model = 'flow'
    function = 'yield_function'
    from = 'mandel_stress back_stress'
    to = 'flow_direction kinematic_hardening_direction'
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
  [kinematic_plastic_strain_rate]
    type = AssociativeKinematicPlasticHardening
  []
  [integrate_plastic_strain]
    type = SR2BackwardEulerTimeIntegration
    variable = 'plastic_strain'
  []
  [integrate_kinematic_plastic_strain]
    type = SR2BackwardEulerTimeIntegration
    variable = 'kinematic_plastic_strain'
  []
  [system]
    type = ComposedModel
    models = 'elastic_strain elasticity mandel_stress hardening overstress effective_stress yielding normality
              consistency plastic_strain_rate kinematic_plastic_strain_rate integrate_plastic_strain
              integrate_kinematic_plastic_strain'
  []
  [predictor]
    type = ConstantExtrapolationPredictor
    unknowns_SR2 = 'plastic_strain kinematic_plastic_strain'
    unknowns_Scalar = 'flow_rate'
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
    additional_outputs = 'plastic_strain kinematic_plastic_strain'
  []
[]

[EquationSystems]
  [equations]
    type = NonlinearSystem
    model = 'system'
    unknowns = 'plastic_strain kinematic_plastic_strain flow_rate'
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
