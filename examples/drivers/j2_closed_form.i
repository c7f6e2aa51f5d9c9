# Plasticity without a solve in a cycle of tension and compression.
#
#   matlaw-run examples/drivers/j2_closed_form.i cycle --plot strain_xx:stress_xx

!include ../models/j2_closed_form.i
!include histories/strain_cycle.i
