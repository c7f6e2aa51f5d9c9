# Viscoplasticity by radial return in a cycle of tension and compression at three rates.
#
#   matlaw-run examples/drivers/radial_return.i cycle --plot strain_xx:stress_xx

!include ../models/radial_return.i
!include histories/strain_cycle.i
