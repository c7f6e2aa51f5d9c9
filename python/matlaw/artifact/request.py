"""What a user asks the compiler for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from matlaw.artifact.parameter_names import unknown_parameter
from matlaw.errors import CompileError
from matlaw.input.suggestion import unknown_name
from matlaw.models import ParameterSlot

BACKENDS: Final = ("both", "inductor", "native")
DTYPES: Final = ("float64", "float32")
DEVICES: Final = ("cpu", "cuda")
VERIFY: Final = ("none", "quick", "full")


@dataclass(frozen=True)
class Leaf:
    """What one folder of graphs is for.

    :ivar device: one of :data:`DEVICES`
    :ivar dtype: one of :data:`DTYPES`
    """

    device: str
    dtype: str

    @property
    def folder(self) -> str:
        """Where the graphs lie inside the artifact; also the leaf's key in the metadata's ``builds``."""
        return f"{self.device}/{self.dtype}"

    @property
    def float32(self) -> bool:
        """True for single precision."""
        return self.dtype == "float32"


@dataclass(frozen=True)
class Request:
    """What to compile, and how.

    :ivar path: the input file
    :ivar name: the model in it
    :ivar derivatives: ``OUT:IN`` requests; an omitted side stands for all
    :ivar parameters: qualified names of parameters that stay changeable
    :ivar backend: one of :data:`BACKENDS`
    :ivar device: one or more of :data:`DEVICES`
    :ivar dtype: one or more of :data:`DTYPES`
    :ivar cpu_target: one or more of :data:`matlaw.lower.native.CPU_TARGETS`
    :ivar overrides: assignments such as ``Models/elasticity/E:=1``
    :ivar extensions: Python files or modules with further types
    :ivar rename_inputs: ``OLD=NEW``: names that callers see; everything else here uses the original ones
    :ivar rename_outputs: likewise
    :ivar rename_parameters: likewise, of promoted parameters
    :ivar verify: how thoroughly to compare with eager, one of :data:`VERIFY`
    :ivar external_weights: parameters, or models of which all parameters, stay out of the compiled code; empty stands
        for all parameters that are not promoted, None for none
    :ivar keep_source: whether the generated C++ travels in the artifact
    """

    path: Path
    name: str
    derivatives: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    backend: str = "both"
    device: str | tuple[str, ...] = "cpu"
    dtype: str | tuple[str, ...] = "float64"
    cpu_target: str | tuple[str, ...] = "x86-64-v3"
    overrides: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()
    rename_inputs: tuple[str, ...] = ()
    rename_outputs: tuple[str, ...] = ()
    rename_parameters: tuple[str, ...] = ()
    verify: str = "quick"
    keep_source: bool = False
    external_weights: tuple[str, ...] | None = None

    def check(self) -> None:
        """Check everything that needs no model.

        :raises CompileError: names the option and its choices
        """
        from matlaw.lower.native.compiler import CPU_TARGETS

        if self.name in ("", "..") or Path(self.name).name != self.name:
            raise CompileError(
                f"the artifact folder has the model's name, and '{self.name}' names no file; rename the block"
            )
        several: tuple[tuple[str, str | tuple[str, ...], tuple[str, ...]], ...] = (
            ("CPU target", self.cpu_target, CPU_TARGETS),
            ("device", self.device, DEVICES),
            ("dtype", self.dtype, DTYPES),
        )
        for option, given, known in several:
            if not _several(given):
                raise CompileError(f"no {option} was given; choose from {', '.join(known)}")
        for option, value, choices in (
            ("backend", self.backend, BACKENDS),
            *(("dtype", dtype, DTYPES) for dtype in _several(self.dtype)),
            ("verification", self.verify, VERIFY),
            *(("device", device, DEVICES) for device in _several(self.device)),
            *(("CPU target", target, CPU_TARGETS) for target in _several(self.cpu_target)),
        ):
            if value not in choices:
                raise CompileError(unknown_name(option, value, choices))
        if self.backend == "native" and any(leaf.device == "cuda" for leaf in self.leaves):
            raise CompileError(
                "--device cuda: native kernels are for CPUs; compile with --backend both or inductor, or with "
                "--device cpu"
            )

    def require_devices(self) -> None:
        """Check that this machine has the devices to compile for; to plan needs none.

        :raises CompileError: there is no CUDA device
        """
        if any(leaf.device == "cuda" for leaf in self.leaves) and not cuda_available():
            raise CompileError("--device cuda: this torch sees no CUDA device; compile with --device cpu")

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        """Every combination of the devices and dtypes, each once, in the order of :data:`DEVICES`, :data:`DTYPES`."""
        devices, dtypes = set(_several(self.device)), set(_several(self.dtype))
        return tuple(Leaf(d, t) for d in DEVICES if d in devices for t in DTYPES if t in dtypes)

    @property
    def cpu_targets(self) -> tuple[str, ...]:
        """The CPU targets, each once, in ascending order."""
        from matlaw.lower.native.compiler import CPU_TARGETS

        return tuple(sorted(set(_several(self.cpu_target)), key=CPU_TARGETS.index))

    def targets_of(self, leaf: Leaf) -> tuple[str, ...]:
        """The CPU targets that a leaf has code for; the part of a CUDA graph that runs on the CPU is for the lowest."""
        return self.cpu_targets if leaf.device == "cpu" else self.cpu_targets[:1]

    def native_file(self, leaf: Leaf, stem: str, target: str) -> str:
        """The kernel of a graph for a CPU target, below the artifact folder."""
        return f"{leaf.folder}/{stem}.{target}.so"

    def inductor_file(self, leaf: Leaf, stem: str, target: str) -> str:
        """The ``.pt2`` of a graph for a CPU target, below the artifact folder; the lowest target is not in its name."""
        suffix = "" if target == self.cpu_targets[0] else f".{target}"
        return f"{leaf.folder}/{stem}{suffix}.pt2"

    def source_file(self, leaf: Leaf, stem: str) -> str:
        """The generated C++ of a graph, below the artifact folder."""
        return f"source/{leaf.folder}/{stem}.cpp"


def _several(given: str | tuple[str, ...]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def cuda_available() -> bool:
    """True when this torch can compile for, and run on, a CUDA device."""
    import torch

    return torch.cuda.is_available()


def cuda_capability() -> str:
    """Compute capability of the device that graphs are compiled for, for instance ``9.0``."""
    import torch

    major, minor = torch.cuda.get_device_capability()
    return f"{major}.{minor}"


def requested_pairs(
    requests: Sequence[str],
    outputs: Sequence[str],
    inputs: Sequence[str],
    parameters: Sequence[str] = (),
    fixed: Sequence[str] = (),
) -> list[tuple[str, str]]:
    """The ``(output, input)`` and ``(output, parameter)`` pairs that ``-d`` options stand for.

    They come in the order of the model's variables, those by parameters last.

    :param requests: ``OUT:IN`` or ``OUT:PARAM``; an omitted side stands for all outputs or all inputs
    :param outputs: names of the model's outputs
    :param inputs: names of its inputs
    :param parameters: names of promoted parameters
    :param fixed: names of parameters that are not promoted, for messages
    :raises CompileError: a request without a colon, or with an unknown name

    >>> requested_pairs(["stress:"], ["stress", "energy"], ["strain", "t"])
    [('stress', 'strain'), ('stress', 't')]
    """
    wanted: set[tuple[str, str]] = set()
    for request in requests:
        left, right = _sides(request, outputs, [*inputs, *parameters])
        if left and left not in outputs:
            raise CompileError(f"-d {request}: {unknown_name('output', left, outputs)}")
        if right and right not in inputs and right not in parameters:
            if right in fixed:
                raise CompileError(f"-d {request}: '{right}' is a fixed parameter; promote it with -p {right}")
            kind = "input or promoted parameter" if parameters else "input"
            raise CompileError(f"-d {request}: {unknown_name(kind, right, [*inputs, *parameters])}")
        by = [right] if right else inputs
        wanted |= {(o, i) for o in outputs for i in by if not left or o == left}
    order = [*inputs, *(p for p in parameters if p not in inputs)]
    return [(o, i) for group in (inputs, order[len(inputs) :]) for o in outputs for i in group if (o, i) in wanted]


def _sides(request: str, outputs: Sequence[str], by: Sequence[str]) -> tuple[str, str]:
    """The names on both sides of the colon; that one of several which leaves known names, where names hold colons.

    :raises CompileError: there is no colon, or two of them do
    """
    splits = [(request[:i].strip(), request[i + 1 :].strip()) for i, c in enumerate(request) if c == ":"]
    if not splits:
        raise CompileError(f"-d {request}: expected OUT:IN, for instance {outputs[0]}:{by[0]}")
    fitting = [(o, i) for o, i in splits if (not o or o in outputs) and (not i or i in by)]
    if len(fitting) > 1:
        readings = " or ".join(f"'{o}' by '{i}'" for o, i in fitting)
        raise CompileError(f"-d {request}: may mean {readings}; rename one of these variables in the input file")
    return (fitting or splits)[0]


def checked_parameters(names: Sequence[str], known: Mapping[str, ParameterSlot]) -> list[str]:
    """The parameters to promote, each once.

    :raises CompileError: an unknown name
    """
    for name in names:
        if name not in known:
            raise CompileError(f"-p {name}: {unknown_parameter(name, known)}")
    return list(dict.fromkeys(names))


def checked_weights(wanted: Sequence[str] | None, known: Sequence[str], promoted: Sequence[str]) -> list[str]:
    """The parameters that stay out of the compiled code, in the order of the model's.

    :param wanted: names of parameters, or of models for all of theirs; none stands for all that are not promoted
    :param known: the model's parameters
    :param promoted: those that ``-p`` names
    :raises CompileError: an unknown name, one that ``-p`` names too, or nothing to keep outside

    >>> checked_weights(["net"], ["net.0.weight", "net.0.bias", "elasticity.E"], [])
    ['net.0.weight', 'net.0.bias']
    """
    if wanted is None:
        return []
    chosen: set[str] = set()
    for name in wanted:
        found = [p for p in known if p == name or p.startswith(f"{name}.")]
        if not found:
            models = dict.fromkeys(p.rpartition(".")[0] for p in known)
            raise CompileError(f"--external-weights {name}: {unknown_name('parameter', name, [*known, *models])}")
        if name in promoted:
            raise CompileError(f"--external-weights {name}: -p names it too, and a parameter is one or the other")
        chosen |= set(found)
    weights = [p for p in known if p not in promoted and (not wanted or p in chosen)]
    if not weights:
        raise CompileError("--external-weights: the model has no parameters but those that -p names")
    return weights
