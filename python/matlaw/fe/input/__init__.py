"""Reading MOOSE input: the dialect, the tree of blocks, declared parameters and the registry of objects."""

from matlaw.fe.input.parameters import Parameter, Values
from matlaw.fe.input.registry import MooseObject, create, register
from matlaw.fe.input.tree import Block, Field, read_input

__all__ = ["Block", "Field", "MooseObject", "Parameter", "Values", "create", "read_input", "register"]
