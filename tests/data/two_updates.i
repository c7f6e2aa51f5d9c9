# Two implicit updates one after the other: viscoplasticity, then a scalar that is driven by its equivalent strain.
#
# Units: MPa, s, strain without unit. Values: for illustration.
[Tensors]
  [times]
    type = 'Python'
    expr = 'Scalar(torch.linspace(0.0, 2.0, 21, dtype=torch.float64).unsqueeze(-1))'
  []
  [strains]
    type = 'Python'
    expr = 'SR2(torch.linspace(0.0, 1.0, 21, dtype=torch.float64).reshape(21, 1, 1) * SR2.fill(0.004, -0.002, -0.001, 0.0, 0.003, 0.0).data.reshape(1, 1, 6))'
  []
[]

[Models]
  [Eel]
    type = 'SR2LinearCombination'
    from = 'strain Ep'
    to = 'Ee'
    weights = '1 -1'
  []
  [hard]
    type = 'LinearIsotropicHardening'
    equivalent_plastic_strain = 'ep'
    isotropic_hardening = 'k'
    hardening_modulus = '1000'
  []
  [elasticity]
    type = 'LinearIsotropicElasticity'
    strain = 'Ee'
    stress = 'S'
    coefficients = '1e5 0.3'
    coefficient_types = 'YOUNGS_MODULUS POISSONS_RATIO'
  []
  [mandel]
    type = 'IsotropicMandelStress'
    cauchy_stress = 'S'
    mandel_stress = 'M'
  []
  [vm]
    type = 'SR2Invariant'
    invariant_type = 'VONMISES'
    tensor = 'M'
    invariant = 's'
  []
  [yld]
    type = 'YieldFunction'
    effective_stress = 's'
    isotropic_hardening = 'k'
    yield_stress = '100'
    yield_function = 'f'
  []
  [flow]
    type = 'ComposedModel'
    models = 'vm yld'
  []
  [normality]
    type = 'Normality'
    model = 'flow'
    function = 'f'
    from = 'M k'
    to = 'NM Nk'
  []
  [rate]
    type = 'PerzynaPlasticFlowRate'
    yield_function = 'f'
    flow_rate = 'g'
    reference_stress = '150'
    exponent = '4'
  []
  [Eprate]
    type = 'AssociativePlasticFlow'
    flow_direction = 'NM'
    flow_rate = 'g'
    plastic_strain_rate = 'Ep_rate'
  []
  [eprate]
    type = 'AssociativeIsotropicPlasticHardening'
    flow_rate = 'g'
    isotropic_hardening_direction = 'Nk'
    equivalent_plastic_strain_rate = 'ep_rate'
  []
  [intEp]
    type = 'SR2BackwardEulerTimeIntegration'
    variable = 'Ep'
  []
  [intep]
    type = 'ScalarBackwardEulerTimeIntegration'
    variable = 'ep'
  []
  [system]
    type = 'ComposedModel'
    models = 'Eel hard elasticity mandel vm yld normality rate Eprate eprate intEp intep'
  []
  [pl]
    type = 'ImplicitUpdate'
    equation_system = 'eq'
    solver = 'newton'
  []
  [rec]
    type = 'ScalarLinearCombination'
    from = 'ep d'
    to = 'd_rate'
    weights = '2.0 -0.5'
  []
  [intd]
    type = 'ScalarBackwardEulerTimeIntegration'
    variable = 'd'
  []
  [damage]
    type = 'ComposedModel'
    models = 'rec intd'
  []
  [upd]
    type = 'ImplicitUpdate'
    equation_system = 'eq2'
    solver = 'newton'
  []
  [deg]
    type = 'ScalarLinearCombination'
    from = 'd'
    to = 'phi'
    weights = '-1'
    offset = '1'
  []
  [scaled]
    type = 'ScalarToDiagonalSR2'
    input = 'phi'
    output = 'I'
  []
  [model]
    type = 'ComposedModel'
    models = 'pl upd deg scaled Eel elasticity'
    additional_outputs = 'Ep ep d'
  []
[]

[EquationSystems]
  [eq]
    type = 'NonlinearSystem'
    model = 'system'
    unknowns = 'Ep ep'
  []
  [eq2]
    type = 'NonlinearSystem'
    model = 'damage'
    unknowns = 'd'
  []
[]

[Solvers]
  [newton]
    type = 'Newton'
    linear_solver = 'lu'
    rel_tol = '1e-12'
    abs_tol = '1e-10'
    max_its = '60'
  []
  [lu]
    type = 'DenseLU'
  []
[]

[Drivers]
  [driver]
    type = 'TransientDriver'
    model = 'model'
    prescribed_time = 'times'
    prescribed_SR2_names = 'strain'
    prescribed_SR2_values = 'strains'
  []
[]
