# Relaxation of a standard linear solid.
#
#   matlaw-run examples/drivers/zener.i relaxation --plot t:stress_xx

!include ../models/zener.i
!include histories/relaxation.i
