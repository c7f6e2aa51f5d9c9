"""Pieces of input files with drivers."""

from pathlib import Path

EXAMPLES = Path(__file__).parents[3] / "examples"


def python_tensor(name, expression):
    """An entry of [Tensors]."""
    return f" [{name}]\n type = Python\n expr = '{expression}'\n []\n"
