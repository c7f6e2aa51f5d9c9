"""Kernels and materials of small-strain solid mechanics, and the shorthands that set them up."""
