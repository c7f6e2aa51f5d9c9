# Chaboche viscoplasticity with two kinds of back stresses under heating: modulus and yield stress are models of the
# temperature, given by tables.
#
# Units: MPa, s, K, strain without unit. Values: for illustration.
[Tensors]
  [times]
    type = 'Python'
    expr = 'Scalar(torch.linspace(0.0, 2.0, 21, dtype=torch.float64).unsqueeze(-1))'
  []
  [strains]
    type = 'Python'
    expr = 'SR2(torch.linspace(0.0, 1.0, 21, dtype=torch.float64).reshape(21, 1, 1) * SR2.fill(0.01, -0.005, -0.005, 0.001, 0.0, 0.002).data.reshape(1, 1, 6))'
  []
  [Ts]
    type = 'Python'
    expr = 'Scalar((torch.linspace(300.0, 700.0, 21, dtype=torch.float64)).unsqueeze(-1))'
  []
  [Tgrid]
    type = 'Python'
    expr = 'Scalar(torch.tensor([200.0, 400.0, 800.0]), sub_batch_ndim=1)'
  []
  [Evals]
    type = 'Python'
    expr = 'Scalar(torch.tensor([2.1e5, 1.9e5, 1.5e5]), sub_batch_ndim=1)'
  []
  [syvals]
    type = 'Python'
    expr = 'Scalar(torch.tensor([150.0, 120.0, 70.0]), sub_batch_ndim=1)'
  []
[]

[Models]
  [E]
    type = 'ScalarLinearInterpolation'
    argument = 'T'
    abscissa = 'Tgrid'
    ordinate = 'Evals'
  []
  [sy]
    type = 'ScalarLinearInterpolation'
    argument = 'T'
    abscissa = 'Tgrid'
    ordinate = 'syvals'
  []
  [thermal]
    type = 'ThermalEigenstrain'
    temperature = 'T'
    reference_temperature = '300'
    CTE = '1.2e-5'
    eigenstrain = 'Eth'
  []
  [Eel]
    type = 'SR2LinearCombination'
    from = 'strain Eth Ep'
    to = 'Ee'
    weights = '1 -1 -1'
  []
  [hard]
    type = 'SlopeSaturationVoceIsotropicHardening'
    isotropic_hardening = 'k'
    isotropic_hardening_rate = 'k_rate'
    saturated_hardening = '50'
    initial_hardening_rate = '2000'
    flow_rate = 'g'
  []
  [intk]
    type = 'ScalarBackwardEulerTimeIntegration'
    variable = 'k'
  []
  [overstress]
    type = 'SR2LinearCombination'
    from = 'M X1 X2'
    to = 'O'
    weights = '1 -1 -1'
  []
  [elasticity]
    type = 'LinearIsotropicElasticity'
    strain = 'Ee'
    stress = 'S'
    coefficients = 'E 0.3'
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
    tensor = 'O'
    invariant = 's'
  []
  [yld]
    type = 'YieldFunction'
    effective_stress = 's'
    isotropic_hardening = 'k'
    yield_stress = 'sy'
    yield_function = 'f'
  []
  [flow]
    type = 'ComposedModel'
    models = 'overstress vm yld'
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
  [X1r]
    type = 'ChabochePlasticHardening'
    back_stress = 'X1'
    back_stress_rate = 'X1_rate'
    flow_direction = 'NM'
    flow_rate = 'g'
    C = '30000'
    g = '200'
    A = '1e-6'
    a = '1.8'
  []
  [X2r]
    type = 'FredrickArmstrongPlasticHardening'
    back_stress = 'X2'
    flow_direction = 'NM'
    flow_rate = 'g'
    C = '5000'
    g = '20'
  []
  [intX1]
    type = 'SR2BackwardEulerTimeIntegration'
    variable = 'X1'
  []
  [intX2]
    type = 'SR2BackwardEulerTimeIntegration'
    variable = 'X2'
  []
  [system]
    type = 'ComposedModel'
    models = 'thermal Eel overstress hard intk elasticity mandel vm yld normality rate Eprate intEp X1r X2r intX1 intX2'
  []
  [pred]
    type = 'LinearExtrapolationPredictor'
    unknowns_SR2 = 'Ep X1 X2'
    unknowns_Scalar = 'k'
  []
  [update]
    type = 'ImplicitUpdate'
    equation_system = 'eq'
    solver = 'newton'
    predictor = 'pred'
  []
  [model]
    type = 'ComposedModel'
    models = 'thermal update Eel elasticity'
    additional_outputs = 'Ep X1 X2 k'
  []
[]

[EquationSystems]
  [eq]
    type = 'NonlinearSystem'
    model = 'system'
    unknowns = 'Ep X1 X2 k'
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
    prescribed_Scalar_names = 'T'
    prescribed_Scalar_values = 'Ts'
  []
[]
