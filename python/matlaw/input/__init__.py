"""Input files: HIT text to models."""

from matlaw.input import tensor_entries
from matlaw.input.extensions import load_extensions
from matlaw.input.input_file import SECTIONS, InputFile
from matlaw.input.load import load_model
from matlaw.models.declaration import Input, Option, Output, Parameter
from matlaw.models.registry import register, registered

__all__ = [
    "SECTIONS",
    "Input",
    "InputFile",
    "Option",
    "Output",
    "Parameter",
    "load_extensions",
    "load_model",
    "register",
    "registered",
    "tensor_entries",
]
