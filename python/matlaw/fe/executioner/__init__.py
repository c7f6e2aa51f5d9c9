"""Marching through time: steps, Newton's method, and what to do when a step fails."""
