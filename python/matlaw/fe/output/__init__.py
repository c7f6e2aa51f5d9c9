"""What a run leaves behind: console, CSV, Exodus, picture."""
