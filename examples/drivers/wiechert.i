# Relaxation of a generalised Maxwell solid in two stages.
#
#   matlaw-run examples/drivers/wiechert.i relaxation --plot t:stress_xx

!include ../models/wiechert.i
!include histories/relaxation.i
