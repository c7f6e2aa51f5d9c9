"""The source that travels in an artifact, evaluated where its compiled graphs are of no use."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from matlaw.artifact.aliases import BoundaryAliases
from matlaw.eager.chain import Run
from matlaw.eager.given import Given
from matlaw.eager.model import Evaluator
from matlaw.eager.record import Detail
from matlaw.errors import FatalError
from matlaw.runtime.eager import EagerLaw
from matlaw.state_pair import StatePair
from matlaw.trace import Program


class SourceLaw(EagerLaw):
    """The eager twin of a compiled law: the same names at its boundary, derivatives and parameters.

    :param folder: of the artifact; its metadata is taken as sound, the C++ loader has verified it
    :param name: of the model; may be empty
    :param extensions: Python files, packages or module names that register further types
    :param dtype: by default the one that the artifact was made for, else ``float64``
    :param device: where the inputs live
    :raises FatalError: the artifact holds no source or another model, or the source cannot be evaluated here, for
        instance because a file or extension that it refers to is not there
    """

    def __init__(
        self,
        folder: Path,
        name: str = "",
        extensions: Sequence[str | Path] = (),
        *,
        dtype: torch.dtype | str | None = None,
        device: torch.device | str = "cpu",
    ) -> None:
        entries = json.loads((folder / "metadata.json").read_text(encoding="utf-8"))
        if name and name != entries["name"]:
            raise FatalError(f"the artifact {folder} holds the model '{entries['name']}', not '{name}'")
        self._aliases = BoundaryAliases.of_metadata(entries)
        self._entries, self._folder = entries, folder
        super().__init__("", entries["name"], extensions, dtype=dtype or _dtype(entries), device=device)
        inputs, outputs, parameters = (self._reported(kind) for kind in ("inputs", "outputs", "parameters"))
        self._pairs = [(outputs(pair["output"]), inputs(pair["input"])) for pair in entries["derivatives"]]
        self._weight_names = [entry["name"] for entry in entries.get("weights", [])]
        self._weights = (1, {name: self._parameters[name] for name in self._weight_names})
        self._promoted = [parameters(entry["name"]) for entry in entries["parameters"]]
        self._state_pairs = [
            StatePair((outputs if p.role == "state" else inputs)(p.current), inputs(p.old), p.role, p.initial)
            for p in self._program.state_pairs
        ]
        self._axes = {name: variable.sub_batch_ndim for name, variable in self._program.inputs.items()}
        self._parameters = {parameters(n): p for n, p in self._parameters.items()}
        self._parameter_dtypes = {parameters(n): dtype for n, dtype in self._parameter_dtypes.items()}
        floating = [parameters(entry["name"]) for entry in entries["parameters"] if "dtype" not in entry]
        self._parameter_dtypes |= dict.fromkeys(floating, self._dtype)
        self._parameter_batches = {parameters(n): shape for n, shape in self._parameter_batches.items()}

    @property
    def derivative_pairs(self) -> list[tuple[str, str]]:
        """Derivatives ``(output, input)`` that the artifact was compiled with.

        Those by an input that got sub-batch axes in a call (``batch_ndim``) are left out.
        """
        return [pair for pair in self._pairs if self._program.inputs[pair[1]].sub_batch_ndim == self._axes[pair[1]]]

    @property
    def state_pairs(self) -> list[StatePair]:
        """What a host carries from one accepted step to the next."""
        return list(self._state_pairs)

    @property
    def times(self) -> list[tuple[str, str]]:
        """Inputs ``(t, t~1)`` that are time and its old value."""
        original, reported = self._aliases.original, self._reported("inputs")
        inputs = {original("inputs", name): variable for name, variable in self._program.inputs.items()}
        return [(reported(t), reported(old)) for t, old in dataclasses.replace(self._program, inputs=inputs).times]

    def named_parameters(self) -> dict[str, torch.Tensor]:
        """Return the promoted parameters by qualified name."""
        values = super().named_parameters()
        return {name: values[name] for name in self._promoted}

    def set_parameter(self, name: str, value: Any) -> None:
        """Replace a promoted parameter by a copy of `value`."""
        if name in self._parameters and name not in self._promoted:
            raise FatalError(
                f"parameter '{name}' was not promoted when the law was compiled (matlaw-compile -p {name})"
            )
        super().set_parameter(name, value)

    def _source_text(self) -> tuple[str, str]:
        source = self._entries["source"]
        return source["file"], source["text"]

    def _partitioned(self, sub_batch: Mapping[str, tuple[int, ...]] | None) -> tuple[Program, Evaluator]:
        original = None
        if sub_batch is not None:
            original = {self._aliases.original("inputs", name): shape for name, shape in sub_batch.items()}
        with TemporaryDirectory(prefix="matlaw-source-") as place:
            path = _written(self._entries, self._folder, Path(place))
            self._source = (path, *self._source[1:])
            try:
                program, chain = super()._partitioned(original)
            except FatalError as error:
                raise FatalError(
                    f"the source in {self._folder / 'metadata.json'} cannot be evaluated: "
                    f"{str(error).replace(str(path), path.name)}"
                ) from error
        inputs, outputs = self._reported("inputs"), self._reported("outputs")
        renamed = dataclasses.replace(
            program,
            inputs={inputs(n): v for n, v in program.inputs.items()},
            outputs={outputs(n): v for n, v in program.outputs.items()},
        )
        return renamed, RenamedChain(chain, self._aliases)

    def _reported(self, kind: str) -> Any:
        return lambda original: self._aliases.reported(kind, original)


class RenamedChain:
    """A chain whose inputs, outputs and parameters have the names that a caller knows.

    :param chain: with the original names
    :param aliases: the names
    """

    def __init__(self, chain: Evaluator, aliases: BoundaryAliases) -> None:
        self._chain = chain
        self._aliases = aliases

    def run(self, given: Given, detail: Detail = Detail.NOTHING) -> Run:
        """Evaluate as :meth:`matlaw.eager.chain.Chain.run` does."""

        def originals(kind: str, named: Mapping[str, Any]) -> dict[str, Any]:
            return {self._aliases.original(kind, name): value for name, value in named.items()}

        by_inputs = {name: by for name, by in given.derivatives.items() if name in given.values}
        by_parameters = {name: by for name, by in given.derivatives.items() if name not in given.values}
        original = Given(
            originals("inputs", given.values),
            originals("parameters", given.parameters),
            originals("inputs", by_inputs) | originals("parameters", by_parameters),
            given.rows,
        )
        run = self._chain.run(original, detail)
        renamed = self._aliases.maps.get("outputs", {})
        return dataclasses.replace(
            run,
            values={renamed.get(name, name): value for name, value in run.values.items()},
            derivatives={renamed.get(name, name): by for name, by in run.derivatives.items()},
        )


def _written(entries: Mapping[str, Any], folder: Path, place: Path) -> Path:
    """The source as a file."""
    source = entries.get("source") or {}
    text = source.get("text")
    if not isinstance(text, str) or hashlib.sha256(text.encode()).hexdigest() != source.get("sha256"):
        raise FatalError(f"{folder / 'metadata.json'} holds no source that could be evaluated instead of its graphs")
    path = place / Path(source.get("file") or "source.i").name
    path.write_text(text, encoding="utf-8")
    return path


def _dtype(entries: Mapping[str, Any]) -> str:
    """What the artifact was made for, when that is one dtype only."""
    found = {key.partition("/")[2] for key in entries["builds"]}
    return found.pop() if len(found) == 1 else "float64"
