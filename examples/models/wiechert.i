# Generalised Maxwell solid: a spring in parallel with two Maxwell elements, implicit Euler.
#
# Units: MPa, s, strain without unit. Values: for illustration, a polymer that relaxes within 1 s and 100 s.
# Source of the law: E. Wiechert, Ann. Phys. 286 (1893).
#
# Inputs: strain, t and the old values viscous_strain_1~1, viscous_strain_2~1, t~1.
# Outputs: stress, viscous_strain_1, viscous_strain_2 and their rates.

[Models]
  [element]
    type = WiechertElement
    equilibrium_modulus = 500
    modulus_1 = 1000
    viscosity_1 = 1000
    modulus_2 = 500
    viscosity_2 = 50000
  []
  [integrate_viscous_strain_1]
    type = SR2BackwardEulerTimeIntegration
    variable = 'viscous_strain_1'
  []
  [integrate_viscous_strain_2]
    type = SR2BackwardEulerTimeIntegration
    variable = 'viscous_strain_2'
  []
  [system]
    type = ComposedModel
    models = 'element integrate_viscous_strain_1 integrate_viscous_strain_2'
  []
  [predictor]
    type = ConstantExtrapolationPredictor
    unknowns_SR2 = 'viscous_strain_1 viscous_strain_2'
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
    additional_outputs = 'viscous_strain_1 viscous_strain_2'
  []
[]

[EquationSystems]
  [equations]
    type = NonlinearSystem
    model = 'system'
    unknowns = 'viscous_strain_1 viscous_strain_2'
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
