# A polycrystal after Taylor: every grain has the deformation of the whole, the stress is the mean over the grains.
#
# Grains are the sub-batch axis: elastic strain, hardening and orientation have one value for each of the four grains. The
# grains are single crystals with 12 slip systems <110>{111}, hypoelastic, with Voce hardening alike on all systems.
# The orientation follows the spin of the step that has just been solved (decoupled): the implicit system has the elastic
# strain and the hardening as unknowns, with the orientation of the last step.
#
# Units: MPa, s, strain without unit. Components of symmetric tensors: xx, yy, zz, sqrt2 yz, sqrt2 xz, sqrt2 xy; of spins
# the axial vector; of orientations modified Rodrigues parameters, from the axes of the crystal to those of the laboratory.
# Law: G. I. Taylor, J. Inst. Met. 62 (1938); R. J. Asaro, J. Appl. Mech. 50 (1983), with a power law for the slip rates.
#
# Inputs: deformation_rate, vorticity, t and the old values elastic_strain~1, slip_hardening~1, orientation~1, t~1.
# Outputs: mean_stress, elastic_strain, slip_hardening, orientation.

[Settings]
  [example_batch_shape]
    elastic_strain = '(2; 4)'
    slip_hardening = '(2; 4)'
    orientation = '(2; 4)'
  []
[]

[Tensors]
  [directions]
    type = Python
    expr = 'MillerIndex(torch.tensor([[1, 1, 0]]), sub_batch_ndim=1)'
  []
  [planes]
    type = Python
    expr = 'MillerIndex(torch.tensor([[1, 1, 1]]), sub_batch_ndim=1)'
  []
[]

[Data]
  [crystal_geometry]
    type = CubicCrystal
    lattice_parameter = 1.0
    slip_directions = 'directions'
    slip_planes = 'planes'
  []
[]

[Models]
  [old_orientation]
    type = RotationMatrix
    from = 'orientation~1'
    to = 'orientation_matrix'
  []
  [elasticity]
    type = LinearIsotropicElasticity
    strain = 'elastic_strain'
    stress = 'stress'
    coefficients = '100000 0.25'
    coefficient_types = 'YOUNGS_MODULUS POISSONS_RATIO'
  []
  [resolved_shear]
    type = ResolvedShear
    stress = 'stress'
    orientation_matrix = 'orientation_matrix'
    resolved_shears = 'resolved_shears'
  []
  [strength]
    type = SingleSlipStrengthMap
    slip_hardening = 'slip_hardening'
    slip_strengths = 'slip_strengths'
    constant_strength = 50
  []
  [slip]
    type = PowerLawSlipRule
    resolved_shears = 'resolved_shears'
    slip_strengths = 'slip_strengths'
    slip_rates = 'slip_rates'
    gamma0 = 1e-3
    n = 8
  []
  [total_slip]
    type = SumSlipRates
    slip_rates = 'slip_rates'
    sum_slip_rates = 'sum_slip_rates'
  []
  [hardening]
    type = VoceSingleSlipHardeningRule
    slip_hardening = 'slip_hardening'
    sum_slip_rates = 'sum_slip_rates'
    slip_hardening_rate = 'slip_hardening_rate'
    initial_slope = 500
    saturated_hardening = 50
  []
  [plastic_rate]
    type = PlasticDeformationRate
    orientation_matrix = 'orientation_matrix'
    slip_rates = 'slip_rates'
    plastic_deformation_rate = 'plastic_deformation_rate'
  []
  [plastic_spin]
    type = PlasticVorticity
    orientation_matrix = 'orientation_matrix'
    slip_rates = 'slip_rates'
    plastic_vorticity = 'plastic_vorticity'
  []
  [elastic_strain_rate]
    type = ElasticStrainRate
    elastic_strain = 'elastic_strain'
    deformation_rate = 'deformation_rate'
    vorticity = 'vorticity'
    plastic_deformation_rate = 'plastic_deformation_rate'
    elastic_strain_rate = 'elastic_strain_rate'
  []
  [orientation_rate]
    type = OrientationRate
    elastic_strain = 'elastic_strain'
    vorticity = 'vorticity'
    plastic_deformation_rate = 'plastic_deformation_rate'
    plastic_vorticity = 'plastic_vorticity'
    orientation_rate = 'orientation_rate'
  []
  [integrate_elastic_strain]
    type = SR2BackwardEulerTimeIntegration
    variable = 'elastic_strain'
  []
  [integrate_hardening]
    type = ScalarBackwardEulerTimeIntegration
    variable = 'slip_hardening'
  []
  [integrate_orientation]
    type = WR2ExplicitExponentialTimeIntegration
    variable = 'orientation'
  []
  [mean_stress]
    type = SR2IntermediateMean
    from = 'stress'
    to = 'mean_stress'
    reduces = 'grain'
  []
  [system]
    type = ComposedModel
    models = 'old_orientation elasticity resolved_shear strength slip total_slip hardening plastic_rate
              elastic_strain_rate integrate_elastic_strain integrate_hardening'
  []
  [predictor]
    type = CrystalPlasticityStrainPredictor
    deformation_rate = 'deformation_rate'
    elastic_strain = 'elastic_strain'
    scale = 0.1
  []
  [hardening_predictor]
    type = ConstantExtrapolationPredictor
    unknowns_Scalar = 'slip_hardening'
  []
  [guess]
    type = ComposedModel
    models = 'predictor hardening_predictor'
  []
  [update]
    type = ImplicitUpdate
    equation_system = 'equations'
    solver = 'newton'
    predictor = 'guess'
  []
  [model]
    type = ComposedModel
    models = 'update old_orientation elasticity resolved_shear strength slip plastic_rate plastic_spin
              orientation_rate integrate_orientation mean_stress'
    additional_outputs = 'elastic_strain slip_hardening'
  []
[]

[EquationSystems]
  [equations]
    type = NonlinearSystem
    model = 'system'
    unknowns = 'elastic_strain slip_hardening'
  []
[]

[Solvers]
  [newton]
    type = Newton
    max_its = 50
    linear_solver = 'lu'
  []
  [lu]
    type = DenseLU
  []
[]
