# Linear isotropic elasticity of the strain with a Young's modulus that the host may set at each point.
#
# Units: MPa, strain without unit. Inputs: strain, modulus. Output: stress.

[Models]
  [model]
    type = LinearIsotropicElasticity
    strain = 'strain'
    stress = 'stress'
    coefficients = 'modulus 0.3'
    coefficient_types = 'YOUNGS_MODULUS POISSONS_RATIO'
  []
[]
