# Relaxation of a Burgers solid: it is a fluid in the end.
#
#   matlaw-run examples/drivers/burgers.i relaxation --plot t:stress_xx

!include ../models/burgers.i
!include histories/relaxation.i
