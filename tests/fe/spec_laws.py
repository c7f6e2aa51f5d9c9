"""Compiling what an input references: artifacts for [Matlaw], plugins for AbaqusUMATStress."""

from __future__ import annotations

import hashlib
from pathlib import Path

import artifacts
from places import ROOT

import matlaw
from matlaw.artifact import compile_model
from matlaw.fe.input.tree import Block
from matlaw.umat import write_plugin

MODELS = ROOT / "examples" / "models"


def compiled(source: Path, model: str, parameters: list[str]) -> Path:
    """The stub of a law, compiled with native kernels when it is not up to date.

    It has all derivatives by inputs that are not old values: an input may be a variable that is solved for.
    """
    law = matlaw.load_model(str(source), model)
    old = {pair[1] for pair in law.state_pairs}
    inputs = [name for name in law.input_names if name not in old and name != "t"]
    outputs = [
        name for name, kind in zip(law.output_names, law.output_types, strict=True) if kind in ("SR2", "R2", "Scalar")
    ]
    pairs = [f"{output}:{name}" for output in outputs for name in inputs]
    key = hashlib.sha256("\n".join([str(source), model, *parameters]).encode()).hexdigest()[:10]
    place = artifacts.folder() / "specs" / f"{source.stem}-{key}"
    compile_model(source, model, place, derivatives=pairs, parameters=parameters, backend="native", jobs=2)
    return place / f"{model}_aoti.i"


def law_overrides(root: Block, folder: Path, arguments: tuple[str, ...]) -> list[str]:
    """What to add to a command line so that every entry of [Matlaw] has its law, compiled where its source is named.

    :param root: the input
    :param folder: folder that names in it are relative to
    :param arguments: the command line so far; an entry whose ``input`` it sets is left alone
    """
    result = []
    block = root.blocks.get("Matlaw")
    for name, entry in (block.blocks if block is not None else {}).items():
        if any(argument.startswith(f"Matlaw/{name}/input") for argument in arguments):
            continue
        source = (folder / entry.text("input")).resolve()
        if not source.is_file():
            continue  # the host is to say so
        if entry.text("runtime") == "eager" or any(a.startswith(f"Matlaw/{name}/model") for a in arguments):
            result.append(f"Matlaw/{name}/input={source}")
        else:
            stub = compiled(source, entry.text("model", "model"), entry.text("law_parameters").split())
            result.append(f"Matlaw/{name}/input={stub}")
    return result


def plugins(root: Block, folder: Path) -> None:
    """Write the UMAT plugins of an input into the folder where it runs.

    ``plugin = './name'`` is the law ``name.i`` of the examples, or of the folder of the input.
    """
    materials = root.blocks.get("Materials")
    for entry in materials.blocks.values() if materials is not None else ():
        if entry.text("type") != "AbaqusUMATStress":
            continue
        name = Path(entry.text("plugin")).name
        stub = compiled(MODELS / f"{name}.i", "model", [])
        write_plugin(stub.parent / "model", "model", folder / name)
