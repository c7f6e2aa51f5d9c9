"""Record a function of batch-last tensors once, for any number of rows."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import torch

from matlaw.errors import CompileError
from matlaw.trace.recorder import DependsOnRows, NotRecordable, Rows, record
from matlaw.trace.slots import Slot

#: A function of flat batch-last tensors ``(*shape, B)``, returning a flat sequence of them.
TensorFunction = Callable[..., Sequence[torch.Tensor]]

#: Numbers of rows with which a function is run while it is recorded: a few, and many.
_ROWS: Final = (11, 1009)


@dataclass(frozen=True)
class Traced:
    """A recorded function.

    :ivar name: for messages
    :ivar module: its aten operations; see :func:`matlaw.trace.recorder.record`
    :ivar inputs: slots of the arguments, in order
    :ivar outputs: slots of the results, in order
    """

    name: str
    module: torch.fx.GraphModule
    inputs: tuple[Slot, ...]
    outputs: tuple[Slot, ...]

    @property
    def constants(self) -> dict[str, torch.Tensor]:
        """The module's constant tensors, by attribute name, in the order of their first use."""
        nodes = self.module.graph.nodes
        return {str(n.target): getattr(self.module, str(n.target)) for n in nodes if n.op == "get_attr"}

    @cached_property
    def structure(self) -> str:
        """Digest of the operations and shapes, without the values of floating-point constants."""
        found = hashlib.sha256()
        found.update(repr([slot.batched_shape("B") for slot in (*self.inputs, *self.outputs)]).encode())
        numbers: dict[torch.fx.Node, str] = {}
        for k, node in enumerate(self.module.graph.nodes):
            numbers[node] = f"%{k}"
            what = f"{node.op} {node.target}" if node.op == "call_function" else node.op
            operands = torch.fx.map_arg((node.args, node.kwargs), numbers.__getitem__)
            found.update(f"{what} {operands!r}\n".encode())
            if node.op == "get_attr":
                constant = getattr(self.module, str(node.target))
                found.update(f"{constant.dtype} {tuple(constant.shape)} {constant.stride()}".encode())
                if not constant.is_floating_point():
                    found.update(_bytes(constant))
        return found.hexdigest()

    @cached_property
    def digest(self) -> str:
        """Digest of the operations, constants and shapes: the same for the same function, whatever its names."""
        found = hashlib.sha256(self.structure.encode())
        for constant in self.constants.values():
            found.update(_bytes(constant))
        return found.hexdigest()


def _bytes(constant: torch.Tensor) -> bytes:
    return constant.detach().cpu().numpy().tobytes()


def trace(
    function: TensorFunction,
    inputs: Sequence[Slot],
    outputs: Sequence[Slot],
    name: str,
    dtype: torch.dtype = torch.float64,
    sites: int = 1,
) -> Traced:
    """Record ``function`` for any number of rows.

    :param function: takes one tensor ``(*shape, B)`` per input, returns one ``(*shape, B)`` (or with batch extent 1)
        per output
    :param inputs: slots of the arguments
    :param outputs: slots of the results
    :param name: what the function is, for messages
    :param dtype: of the arguments
    :param sites: when larger than 1, the first sub-batch axis of slots with this extent is recorded as symbolic, too
    :raises CompileError: the function cannot be recorded, or what it does depends on the number of rows or sites
    """
    try:
        module = record(function, inputs, dtype, _ROWS, sites)
    except DependsOnRows as e:
        raise CompileError(
            f"{located(name, e.location)}: what its forward function does depends on the number of rows"
            f"{' or sites' if sites > 1 else ''} ({e}). "
            "Every row must be treated alike, for any number of rows."
        ) from e
    except NotRecordable as e:
        raise CompileError(
            f"{located(name, e.location)}: its forward function cannot be recorded as a graph ({e}). "
            "It must consist of torch operations on tensors (*base, *sub_batch, B) without branches on their values."
        ) from e
    _check_results(module, outputs, name, dtype, sites)
    return Traced(name, module, tuple(inputs), tuple(outputs))


def _check_results(
    module: torch.fx.GraphModule, outputs: Sequence[Slot], name: str, dtype: torch.dtype, sites: int
) -> None:
    results = next(node for node in module.graph.nodes if node.op == "output").args[0]
    if len(results) != len(outputs):
        raise CompileError(f"{name}: returned {len(results)} tensors, {len(outputs)} were expected")
    for slot, node in zip(outputs, results, strict=True):
        value = node.meta["val"]
        shape = value.shape
        axis = slot.site_axis(sites)
        own = tuple(Rows(what="sites") if d == axis else n for d, n in enumerate(slot.shape))
        if len(shape) != len(slot.shape) + 1 or shape[:-1] != own or shape[-1] not in (Rows(), 1):
            found = ", ".join(map(str, shape))
            raise CompileError(f"{name}: '{slot.name}' came out as ({found}), expected {(*slot.shape, 'B')}")
        if value.dtype != dtype:
            raise CompileError(f"{name}: '{slot.name}' came out as {value.dtype}, expected {dtype}")


def located(name: str, location: str) -> str:
    """How messages name a function, or what is wrong in it where a model is known.

    :param name: of the function
    :param location: of the model in the input file, or empty

    >>> located("model 'model', segment 0", "law.i:3: [Models]/[elasticity]")
    "law.i:3: [Models]/[elasticity] (model 'model', segment 0)"
    """
    return f"{location} ({name})" if location else name
