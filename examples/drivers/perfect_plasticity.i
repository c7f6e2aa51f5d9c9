# Perfect plasticity in a cycle of tension and compression: the rates make no difference.
#
#   matlaw-run examples/drivers/perfect_plasticity.i cycle --plot strain_xx:stress_xx

!include ../models/perfect_plasticity.i
!include histories/strain_cycle.i
