# A law of three segments with a network in each, the middle one inside an implicit update.
[Models]
  [encoder]
    type = TorchModule
    module = 'learned.py:Encoder'
    inputs = 'strain'
    input_types = 'SR2'
    outputs = 'demand'
  []
  [balance]
    type = TorchModule
    module = 'learned.py:Balance'
    inputs = 'x demand'
    outputs = 'x_residual'
  []
  [update]
    type = ImplicitUpdate
    equation_system = 'equations'
    solver = 'newton'
  []
  [decoder]
    type = TorchModule
    module = 'learned.py:Decoder'
    inputs = 'strain x'
    input_types = 'SR2 Scalar'
    outputs = 'stress'
    output_types = 'SR2'
    arguments = 'separate'
  []
  [model]
    type = ComposedModel
    models = 'encoder update decoder'
    additional_outputs = 'x'
  []
[]

[EquationSystems]
  [equations]
    type = NonlinearSystem
    model = 'balance'
    unknowns = 'x'
  []
[]

[Solvers]
  [newton]
    type = Newton
    rel_tol = 1e-12
    max_its = 20
    linear_solver = 'lu'
  []
  [lu]
    type = DenseLU
  []
[]
