"""A law of two implicit updates whose solutions are known: x^3 + x = a, then y^3 + y = x + a."""

#: The end of [Models], and [EquationSystems], of a law of two systems, `system_x` and then `system_y`. Both take the
#: solver `newton`, which is not there.
TWO_UPDATES = """\
  [update_x]
    type = ImplicitUpdate
    equation_system = 'equations_x'
    solver = 'newton'
  []
  [update_y]
    type = ImplicitUpdate
    equation_system = 'equations_y'
    solver = 'newton'
  []
  [model]
    type = ComposedModel
    models = 'update_x update_y'
    additional_outputs = 'x'
  []
[]
[EquationSystems]
  [equations_x]
    type = NonlinearSystem
    model = 'system_x'
    unknowns = 'x'
  []
  [equations_y]
    type = NonlinearSystem
    model = 'system_y'
    unknowns = 'y'
  []
[]
"""

#: Without its [Solvers].
TWO_CUBES = (
    """
[Models]
  [cube_x]
    type = ScalarMultiplication
    from = 'x x x'
    to = 'x3'
  []
  [first]
    type = ScalarLinearCombination
    from = 'x3 x a'
    to = 'x_residual'
    weights = '1 1 -1'
  []
  [cube_y]
    type = ScalarMultiplication
    from = 'y y y'
    to = 'y3'
  []
  [second]
    type = ScalarLinearCombination
    from = 'y3 y x a'
    to = 'y_residual'
    weights = '1 1 -1 -1'
  []
  [system_x]
    type = ComposedModel
    models = 'cube_x first'
  []
  [system_y]
    type = ComposedModel
    models = 'cube_y second'
  []
"""
    + TWO_UPDATES
)

#: The second update takes the solver `other`.
TWO_SOLVERS = "other".join(TWO_CUBES.rsplit("newton", 1))
