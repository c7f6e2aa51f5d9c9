"""Recorded cases: blocks, inputs and the outputs of neml2 3.1.0 (torch 2.12.1, float64)."""

import json
from pathlib import Path

import torch

from matlaw.input import InputFile
from matlaw.tensors import TYPES, to_internal

RECORDS = json.loads(Path(__file__).parents[2].joinpath("data", "models_of_neml2_3.1.0.json").read_text())
NAMES = [record["name"] for record in RECORDS]


def build(record, write):
    """The model, with the sub-batch axes of the recorded inputs."""
    shapes = {name: tuple(v.get("sub_batch", ())) for name, v in record["inputs"].items()}
    return InputFile(write(record["text"])).model("model", shapes)


def typed(variables):
    """Typed tensors of a batch of two from ``{name: {type, sub_batch, value}}``."""
    return {
        name: to_internal(torch.tensor(v["value"], dtype=torch.float64), TYPES[v["type"]], len(v.get("sub_batch", ())))
        for name, v in variables.items()
    }
