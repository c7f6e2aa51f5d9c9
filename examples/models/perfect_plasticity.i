# Perfect plasticity: von Mises yield without hardening, rate independent, implicit Euler.
#
# Units: MPa, strain without unit; t only orders the steps.
# E, nu: EN 1993-1-1, section 3.2.6, rounded. Yield stress: of the order of S235/S275.
# Source of the law: J. C. Simo, T. J. R. Hughes, Computational Inelasticity, Springer 1998, section 3.3.
#
# Inputs: strain, t and the old values plastic_strain~1, t~1.
# Outputs: stress, plastic_strain, flow_rate.

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
    yield_stress = 250
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
  [consistency]
    type = FBComplementarity
    a = 'yield_function'
    b = 'flow_rate'
    complementarity = 'flow_rate_residual'
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
    models = 'elastic_strain elasticity mandel_stress effective_stress yielding normality consistency
              plastic_strain_rate integrate_plastic_strain'
  []
  [predictor]
    type = ConstantExtrapolationPredictor
    unknowns_SR2 = 'plastic_strain'
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
    additional_outputs = 'plastic_strain'
  []
[]

[EquationSystems]
  [equations]
    type = NonlinearSystem
    model = 'system'
    unknowns = 'plastic_strain flow_rate'
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
