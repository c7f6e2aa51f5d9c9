# An interface with a bilinear law, opened, closed, and opened until it fails.
#
#   matlaw-run examples/drivers/bilinear_traction.i opening --plot jump_x:traction_x

!include ../models/bilinear_traction.i
!include histories/opening.i
