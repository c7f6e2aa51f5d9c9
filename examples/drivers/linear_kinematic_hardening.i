# Linear kinematic hardening in a cycle of tension and compression: the elastic range moves (Bauschinger effect).
#
#   matlaw-run examples/drivers/linear_kinematic_hardening.i cycle --plot strain_xx:stress_xx

!include ../models/linear_kinematic_hardening.i
!include histories/strain_cycle.i
