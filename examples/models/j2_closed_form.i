# J2 plasticity with linear isotropic hardening by radial return in closed form: nothing is solved for.
#
# With linear hardening the consistency condition is linear in the plastic multiplier of the step,
#   multiplier = <f_trial> / (sqrt(2/3) (3 G + K)),
# f_trial being the yield function at the trial stress, scaled to unit gradient; the multiplier is the increment of the
# equivalent plastic strain. The model PerzynaPlasticFlowRate with the exponent 1 is this quotient; what its options call
# rates are increments of the step here, whatever its length.
#
# Units: MPa, strain without unit.
# E, nu, yield stress, K: as in linear_isotropic_hardening.i; sqrt(2/3) (3 G + K) = 190055.28106825377.
# Source of the law: J. C. Simo, T. J. R. Hughes, Computational Inelasticity, Springer 1998, box 3.1.
#
# Inputs: strain and the old values plastic_strain~1, equivalent_plastic_strain~1.
# Outputs: stress, plastic_strain, equivalent_plastic_strain.

[Models]
  [trial_elastic_strain]
    type = SR2LinearCombination
    from = 'strain plastic_strain~1'
    to = 'trial_elastic_strain'
    weights = '1 -1'
  []
  [trial_elasticity]
    type = LinearIsotropicElasticity
    strain = 'trial_elastic_strain'
    stress = 'trial_stress'
    coefficients = '200000 0.3'
    coefficient_types = 'YOUNGS_MODULUS POISSONS_RATIO'
  []
  [mandel_stress]
    type = IsotropicMandelStress
    cauchy_stress = 'trial_stress'
  []
  [direction]
    type = AssociativeJ2FlowDirection
  []
  [effective_stress]
    type = SR2Invariant
    invariant_type = VONMISES
    tensor = 'mandel_stress'
    invariant = 'effective_stress'
  []
  [hardening]
    type = LinearIsotropicHardening
    equivalent_plastic_strain = 'equivalent_plastic_strain~1'
    hardening_modulus = 2000
  []
  [yielding]
    type = YieldFunction
    yield_stress = 250
    isotropic_hardening = 'isotropic_hardening'
  []
  [multiplier]
    type = PerzynaPlasticFlowRate
    flow_rate = 'multiplier'
    reference_stress = 190055.28106825377
    exponent = 1
  []
  [plastic_strain_increment]
    type = AssociativePlasticFlow
    flow_rate = 'multiplier'
    plastic_strain_rate = 'plastic_strain_increment'
  []
  [plastic_strain]
    type = SR2LinearCombination
    from = 'plastic_strain~1 plastic_strain_increment'
    to = 'plastic_strain'
  []
  [equivalent_plastic_strain]
    type = ScalarLinearCombination
    from = 'equivalent_plastic_strain~1 multiplier'
    to = 'equivalent_plastic_strain'
  []
  [elastic_strain]
    type = SR2LinearCombination
    from = 'strain plastic_strain'
    to = 'elastic_strain'
    weights = '1 -1'
  []
  [elasticity]
    type = LinearIsotropicElasticity
    strain = 'elastic_strain'
    stress = 'stress'
    coefficients = '200000 0.3'
    coefficient_types = 'YOUNGS_MODULUS POISSONS_RATIO'
  []
  [model]
    type = ComposedModel
    models = 'trial_elastic_strain trial_elasticity mandel_stress direction effective_stress hardening yielding multiplier
              plastic_strain_increment plastic_strain equivalent_plastic_strain elastic_strain elasticity'
    additional_outputs = 'plastic_strain'
  []
[]
