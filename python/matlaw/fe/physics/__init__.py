"""The equations: what laws and kernels add to residual and tangent."""
