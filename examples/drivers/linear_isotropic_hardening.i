# Linear isotropic hardening in a cycle of tension and compression: the elastic range grows.
#
#   matlaw-run examples/drivers/linear_isotropic_hardening.i cycle --plot strain_xx:stress_xx

!include ../models/linear_isotropic_hardening.i
!include histories/strain_cycle.i
