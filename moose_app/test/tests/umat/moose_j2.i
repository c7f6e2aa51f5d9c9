# The material of bar.i in MOOSE's own words: J2 plasticity with linear isotropic hardening.

[Physics/SolidMechanics/QuasiStatic]
  [all]
    use_automatic_differentiation = true
  []
[]

[Materials]
  [elasticity]
    type = ADComputeIsotropicElasticityTensor
    youngs_modulus = 200000
    poissons_ratio = 0.3
  []
  [stress]
    type = ADComputeMultipleInelasticStress
    inelastic_models = 'plasticity'
    max_iterations = 1
    internal_solve_full_iteration_history = false
  []
  [plasticity]
    type = ADIsotropicPlasticityStressUpdate
    yield_stress = 250
    hardening_constant = 2000
    relative_tolerance = 1e-13
    absolute_tolerance = 1e-13
  []
[]
