# Tension of a polycrystal of four grains.
#
#   matlaw-run examples/drivers/taylor_polycrystal.i tension --plot t:mean_stress_zz t:orientation

!include ../models/taylor_polycrystal.i
!include histories/tension_of_crystals.i

[Tensors]
  [orientations] # of the grains, as in single_crystal.i
    type = Python
    expr = '
      result = MRP(
        [[0.0, 0.0, 0.0], [0.198912367, 0.0, 0.0], [0.172163598, -0.172163598, 0.0], [0.1, 0.05, 0.0]], sub_batch_ndim=1
      )
    '
  []
[]
