"""What finite-element hosts share: a law at a fixed number of points, with its state."""

from matlaw.host.quadrature_batch import QuadratureBatch

__all__ = ["QuadratureBatch"]
