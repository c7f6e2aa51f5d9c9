"""Numbers computed at the end of every step."""
