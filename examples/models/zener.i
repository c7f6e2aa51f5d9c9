# Standard linear solid: a spring in parallel with a Maxwell element, implicit Euler.
#
# Units: MPa, s, strain without unit. Values: for illustration, a polymer that relaxes within seconds.
# Source of the law: C. Zener, Elasticity and Anelasticity of Metals, Chicago 1948, chapter 5.
#
# Inputs: strain, t and the old values viscous_strain~1, t~1.
# Outputs: stress, viscous_strain, viscous_strain_rate.

[Models]
  [element]
    type = ZenerElement
    equilibrium_modulus = 500
    maxwell_modulus = 1500
    maxwell_viscosity = 3000
  []
  [integrate_viscous_strain]
    type = SR2BackwardEulerTimeIntegration
    variable = 'viscous_strain'
  []
  [system]
    type = ComposedModel
    models = 'element integrate_viscous_strain'
  []
  [predictor]
    type = ConstantExtrapolationPredictor
    unknowns_SR2 = 'viscous_strain'
  []
  [update]
    type = ImplicitUpdate
    equation_system = 'equations'
    solver = 'newton'
    predictor = 'predictor'
  []
  [model]
    type = ComposedModel
    models = 'update element'
    additional_outputs = 'viscous_strain'
  []
[]

[EquationSystems]
  [equations]
    type = NonlinearSystem
    model = 'system'
    unknowns = 'viscous_strain'
  []
[]

[Solvers]
  [newton]
    type = Newton
    abs_tol = 1e-12
    rel_tol = 1e-10
    max_its = 25
    linear_solver = 'lu'
  []
  [lu]
    type = DenseLU
  []
[]
