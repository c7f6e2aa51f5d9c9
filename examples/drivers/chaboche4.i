# Viscoplasticity with four back stresses in a cycle of tension and compression at three rates.
#
#   matlaw-run examples/drivers/chaboche4.i cycle --plot strain_xx:stress_xx

!include ../models/chaboche4.i
!include histories/strain_cycle.i
