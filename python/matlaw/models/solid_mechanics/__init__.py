"""Models of solid mechanics."""
