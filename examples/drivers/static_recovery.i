# Hardening that recovers with time while the strain is held.
#
#   matlaw-run examples/drivers/static_recovery.i relaxation --plot t:stress_xx t:isotropic_hardening

!include ../models/static_recovery.i
!include histories/relaxation.i
