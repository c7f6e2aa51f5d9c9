"""Auxiliary variables and the kernels that fill them."""
