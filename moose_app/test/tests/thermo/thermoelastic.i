# Linear isotropic elasticity with thermal expansion and a Young's modulus that falls with the temperature.
#
# Units: MPa, K, strain without unit. Values: of the order of those of a structural steel, for illustration.
#
# Inputs: strain, temperature. Outputs: stress, thermal_strain.

[Tensors]
  [temperatures]
    type = Python
    expr = 'Scalar(torch.tensor([300.0, 600.0, 900.0]), sub_batch_ndim=1)'
  []
  [moduli]
    type = Python
    expr = 'Scalar(torch.tensor([200000.0, 180000.0, 120000.0]), sub_batch_ndim=1)'
  []
[]

[Models]
  [modulus]
    type = ScalarLinearInterpolation
    argument = 'temperature'
    abscissa = 'temperatures'
    ordinate = 'moduli'
  []
  [expansion]
    type = ThermalEigenstrain
    temperature = 'temperature'
    eigenstrain = 'thermal_strain'
    reference_temperature = 300
    CTE = 1.2e-5
  []
  [elastic_strain]
    type = SR2LinearCombination
    from = 'strain thermal_strain'
    to = 'elastic_strain'
    weights = '1 -1'
  []
  [elasticity]
    type = LinearIsotropicElasticity
    strain = 'elastic_strain'
    stress = 'stress'
    coefficients = 'modulus 0.3'
    coefficient_types = 'YOUNGS_MODULUS POISSONS_RATIO'
  []
  [model]
    type = ComposedModel
    models = 'modulus expansion elastic_strain elasticity'
    additional_outputs = 'thermal_strain'
  []
[]
