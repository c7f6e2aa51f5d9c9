# The material of bar.i in MOOSE's own words: power-law creep, the rate c (stress / 1000 MPa)^4 per second. With the yield
# function sqrt(2/3) (stress - yield stress) of Perzyna's law, the rate (yield function / 1000 MPa)^4 has c = (2/3)^(5/2).

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
    coefficient = 3.628873693012115e-13
    n_exponent = 4
    activation_energy = 0
    relative_tolerance = 1e-13
    absolute_tolerance = 1e-16
  []
[]
