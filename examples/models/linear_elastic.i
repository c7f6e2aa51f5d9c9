# Linear isotropic elasticity of steel.
#
# Units: MPa, strain without unit.
# E and nu: typical of structural steel, EN 1993-1-1, section 3.2.6 (210 GPa there, rounded to 200 GPa here).
#
# Input: strain. Output: stress.

[Models]
  [model]
    type = LinearIsotropicElasticity
    strain = 'strain'
    stress = 'stress'
    coefficients = '200000 0.3'
    coefficient_types = 'YOUNGS_MODULUS POISSONS_RATIO'
  []
[]
