# Saint Venant-Kirchhoff elasticity: second Piola-Kirchhoff stress, linear in the Green-Lagrange strain.
#
# Units: MPa, strain without unit. Law: G. A. Holzapfel, Nonlinear Solid Mechanics, Wiley 2000, section 6.5.
#
# Input: deformation_gradient. Output: stress.

[Models]
  [strain]
    type = GreenLagrangeStrain
    deformation_gradient = 'deformation_gradient'
    strain = 'green_lagrange_strain'
  []
  [elasticity]
    type = LinearIsotropicElasticity
    strain = 'green_lagrange_strain'
    stress = 'stress'
    coefficients = '1000 0.3'
    coefficient_types = 'YOUNGS_MODULUS POISSONS_RATIO'
  []
  [model]
    type = ComposedModel
    models = 'strain elasticity'
  []
[]
