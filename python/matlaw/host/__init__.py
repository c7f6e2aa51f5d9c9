"""What finite-element hosts share: laws at the points of a mesh, with their state."""

from matlaw.host.batch_group import BatchGroup
from matlaw.host.quadrature_batch import Kinematics, QuadratureBatch

__all__ = ["BatchGroup", "Kinematics", "QuadratureBatch"]
