"""Running laws: one loader for compiled laws and input files, one set of operations for both."""

from matlaw.runtime.compiled import CompiledModel
from matlaw.runtime.load import load_model
from matlaw.state_pair import StatePair

__all__ = ["CompiledModel", "StatePair", "load_model"]
