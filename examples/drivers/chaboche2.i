# Viscoplasticity with two back stresses in a cycle of tension and compression at three rates.
#
#   matlaw-run examples/drivers/chaboche2.i cycle --plot strain_xx:stress_xx strain_xx:X1_xx strain_xx:X2_xx

!include ../models/chaboche2.i
!include histories/strain_cycle.i
