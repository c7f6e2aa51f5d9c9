# Viscoplasticity with six back stresses in a cycle of tension and compression at three rates.
#
#   matlaw-run examples/drivers/chaboche6.i cycle --plot strain_xx:stress_xx

!include ../models/chaboche6.i
!include histories/strain_cycle.i
