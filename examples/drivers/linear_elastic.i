# Hooke's law in a cycle of tension and compression.
#
#   matlaw-run examples/drivers/linear_elastic.i cycle --plot strain_xx:stress_xx

!include ../models/linear_elastic.i
!include histories/strain_cycle.i
