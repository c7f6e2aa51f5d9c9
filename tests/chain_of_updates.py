"""A law of five segments, two of them implicit, in which a value overtakes a segment: u = u~1 + 2 a dt, s = 5 a,
v = v~1 + (u + s) dt, w = v + s."""

#: pre -> implicit u -> post, and `side`, which needs nothing implicit, to be evaluated as late as possible
CHAIN = """[Models]
  [side]
    type = ScalarLinearCombination
    from = 'a'
    to = 's'
    weights = '5'
  []
  [pre]
    type = ScalarLinearCombination
    from = 'a'
    to = 'u_rate'
    weights = '2'
  []
  [euler]
    type = ScalarBackwardEulerTimeIntegration
    variable = 'u'
  []
  [update]
    type = ImplicitUpdate
    equation_system = 'eq'
    solver = 'newton'
  []
  [second]
    type = ScalarLinearCombination
    from = 'u s'
    to = 'v_rate'
  []
  [euler2]
    type = ScalarBackwardEulerTimeIntegration
    variable = 'v'
  []
  [update2]
    type = ImplicitUpdate
    equation_system = 'eq2'
    solver = 'newton'
  []
  [post]
    type = ScalarLinearCombination
    from = 'v s'
    to = 'w'
  []
  [m]
    type = ComposedModel
    models = 'post update2 second update pre side'
    additional_outputs = 'u v'
  []
[]
[EquationSystems]
  [eq]
    type = NonlinearSystem
    model = 'euler'
    unknowns = 'u'
  []
  [eq2]
    type = NonlinearSystem
    model = 'euler2'
    unknowns = 'v'
  []
[]
[Solvers]
  [newton]
    type = Newton
  []
[]
"""
