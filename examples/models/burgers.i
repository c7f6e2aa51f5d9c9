# Burgers solid: Maxwell and Kelvin-Voigt elements in series, implicit Euler.
#
# Units: MPa, s, strain without unit. Values: for illustration, a polymer that creeps.
# Source of the law: W. N. Findley, J. S. Lai, K. Onaran, Creep and Relaxation of Nonlinear Viscoelastic Materials,
# Dover 1989, section 5.6.
#
# Inputs: strain, t and the old values maxwell_viscous_strain~1, kelvin_voigt_strain~1, t~1.
# Outputs: stress, maxwell_viscous_strain, kelvin_voigt_strain and their rates.

[Models]
  [element]
    type = BurgersElement
    maxwell_modulus = 2000
    maxwell_viscosity = 200000
    kelvin_modulus = 3000
    kelvin_viscosity = 6000
  []
  [integrate_maxwell_viscous_strain]
    type = SR2BackwardEulerTimeIntegration
    variable = 'maxwell_viscous_strain'
  []
  [integrate_kelvin_voigt_strain]
    type = SR2BackwardEulerTimeIntegration
    variable = 'kelvin_voigt_strain'
  []
  [system]
    type = ComposedModel
    models = 'element integrate_maxwell_viscous_strain integrate_kelvin_voigt_strain'
  []
  [predictor]
    type = ConstantExtrapolationPredictor
    unknowns_SR2 = 'maxwell_viscous_strain kelvin_voigt_strain'
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
    additional_outputs = 'maxwell_viscous_strain kelvin_voigt_strain'
  []
[]

[EquationSystems]
  [equations]
    type = NonlinearSystem
    model = 'system'
    unknowns = 'maxwell_viscous_strain kelvin_voigt_strain'
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
