# Spherical precipitates in eight classes of size: growth by diffusion, coarse classes filled from finer ones.
#
# The classes are the sub-batch axis of the number density, the number of precipitates of each class in a volume. What
# grows leaves a class for the next one (first-order upwind fluxes), nothing enters or leaves at the ends.
#
# Units: nm, s, concentrations in moles per mole; number density in 1/nm^3.
# Law: R. Kampmann, R. Wagner, in Materials Science and Technology 5, VCH 1991; growth after C. Zener, J. Appl. Phys. 20
# (1949).
#
# Inputs: t and the old values number_density~1, t~1. Outputs: number_density, volume_fraction, concentration.

[Settings]
  [example_batch_shape]
    number_density = '(2; 8)'
  []
[]

[Tensors]
  [centers]
    type = Python
    expr = 'Scalar(torch.linspace(1.5, 8.5, 8), sub_batch_ndim=1)'
  []
  [edges]
    type = Python
    expr = 'Scalar(torch.linspace(1.0, 9.0, 9), sub_batch_ndim=1)'
  []
[]

[Models]
  [volume_fraction]
    type = PrecipitateVolumeFraction
    number_density = 'number_density'
    volume_fraction = 'volume_fraction'
    radius = 'centers'
  []
  [concentration]
    type = CurrentConcentration
    precipitate_volume_fractions = 'volume_fraction'
    current_concentration = 'concentration'
    initial_concentration = 0.04
    precipitate_concentrations = '0.8'
  []
  [growth]
    type = RateLimitedPrecipitateGrowthRate
    current_concentration = 'concentration'
    growth_rate = 'growth_rate'
    radius = 'centers'
    equilibrium_concentration = 0.01
    concentration_difference = 0.79
    diffusivity = 2
  []
  [edge_growth]
    type = LinearlyInterpolateToCellEdges
    cell_values = 'growth_rate'
    cell_centers = 'centers'
    cell_edges = 'edges'
    edge_values = 'edge_growth_rate'
  []
  [flux]
    type = FiniteVolumeUpwindedAdvectiveFlux
    u = 'number_density'
    v_edge = 'edge_growth_rate'
    flux = 'flux'
  []
  [finest]
    type = FiniteVolumeAppendBoundaryCondition
    input = 'flux'
    side = 'left'
    bc_value = 0
  []
  [coarsest]
    type = FiniteVolumeAppendBoundaryCondition
    input = 'flux_with_bc_left'
    side = 'right'
    bc_value = 0
    output = 'all_fluxes'
  []
  [balance]
    type = FiniteVolumeGradient
    u = 'all_fluxes'
    grad_u = 'number_density_rate'
    dx = 1
  []
  [integrate]
    type = ScalarBackwardEulerTimeIntegration
    variable = 'number_density'
  []
  [system]
    type = ComposedModel
    models = 'volume_fraction concentration growth edge_growth flux finest coarsest balance integrate'
  []
  [predictor]
    type = ConstantExtrapolationPredictor
    unknowns_Scalar = 'number_density'
  []
  [update]
    type = ImplicitUpdate
    equation_system = 'equations'
    solver = 'newton'
    predictor = 'predictor'
  []
  [model]
    type = ComposedModel
    models = 'update volume_fraction concentration'
    additional_outputs = 'number_density volume_fraction'
  []
[]

[EquationSystems]
  [equations]
    type = NonlinearSystem
    model = 'system'
    unknowns = 'number_density'
  []
[]

[Solvers]
  [newton]
    type = Newton
    abs_tol = 1e-14
    rel_tol = 1e-12
    linear_solver = 'lu'
  []
  [lu]
    type = DenseLU
  []
[]
