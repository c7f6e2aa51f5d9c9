# An interface with an exponential law, opened, closed, and opened until it fails.
#
#   matlaw-run examples/drivers/salehani_irani_traction.i opening --plot jump_x:traction_x

!include ../models/salehani_irani_traction.i
!include histories/opening.i
