# Grains relax towards the strain of the whole, each with an unknown of its own: dcreep/dt = strain - creep.
# Five grains are the sub-batch axis of `creep`. Backward Euler: creep = (creep~1 + dt strain) / (1 + dt).
[Settings]
  [example_batch_shape]
    creep = '(2; 5)'
  []
[]
[Models]
  [difference]
    type = SR2LinearCombination
    from = 'strain creep'
    to = 'creep_rate'
    weights = '1 -1'
  []
  [integrate]
    type = SR2BackwardEulerTimeIntegration
    variable = 'creep'
  []
  [system]
    type = ComposedModel
    models = 'difference integrate'
  []
  [update]
    type = ImplicitUpdate
    equation_system = 'equations'
    solver = 'newton'
  []
  [mean]
    type = SR2IntermediateMean
    from = 'creep'
    to = 'mean_creep'
    reduces = 'grain'
  []
  [model]
    type = ComposedModel
    models = 'update mean'
    additional_outputs = 'creep'
  []
[]
[EquationSystems]
  [equations]
    type = NonlinearSystem
    model = 'system'
    unknowns = 'creep'
  []
[]
[Solvers]
  [newton]
    type = Newton
    linear_solver = 'lu'
  []
  [lu]
    type = DenseLU
  []
[]
