"""Functions of time and place: parsed expressions and tables."""
