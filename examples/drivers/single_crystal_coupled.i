# Tension of a single crystal along [001], [011], [111] and an axis between them; its orientation follows with the slip.
#
#   matlaw-run examples/drivers/single_crystal_coupled.i tension --plot t:stress_zz t:orientation

!include ../models/single_crystal_coupled.i
!include histories/tension_of_crystals.i

[Tensors]
  [orientations] # modified Rodrigues parameters: tan(angle / 4) times the axis that the crystal is turned about
    type = Python
    expr = 'MRP([[0.0, 0.0, 0.0], [0.198912367, 0.0, 0.0], [0.172163598, -0.172163598, 0.0], [0.1, 0.05, 0.0]])'
  []
[]
