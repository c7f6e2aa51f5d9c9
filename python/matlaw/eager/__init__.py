"""Laws evaluated straight from an input file."""

from matlaw.eager.model import EagerModel, load_model

__all__ = ["EagerModel", "load_model"]
