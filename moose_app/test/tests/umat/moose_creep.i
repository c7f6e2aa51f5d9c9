# The material of bar.i in MOOSE's own words: power-law creep, the rate (stress / 1000 MPa)^4 per second.

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
    inelastic_models = 'creep'
    max_iterations = 1
  []
  [creep]
    type = ADPowerLawCreepStressUpdate
    coefficient = 1e-12
    n_exponent = 4
    activation_energy = 0
    relative_tolerance = 1e-13
    absolute_tolerance = 1e-16
  []
[]
