"""Boundary conditions."""
