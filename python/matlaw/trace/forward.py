"""Record a function of batch-last tensors once, with a symbolic number of rows."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch

from matlaw.errors import CompileError
from matlaw.trace.slots import Slot

#: A function of flat batch-last tensors ``(*shape, B)``, returning a flat sequence of them.
TensorFunction = Callable[..., Sequence[torch.Tensor]]

#: Number of rows while tracing: no model has an axis of this extent.
_HINT = 10007


@dataclass(frozen=True)
class Traced:
    """A recorded function.

    :ivar name: for messages
    :ivar module: its aten operations; every tensor in it has its traced shape in ``meta["val"]``
    :ivar inputs: slots of the arguments, in order
    :ivar outputs: slots of the results, in order
    """

    name: str
    module: torch.fx.GraphModule
    inputs: tuple[Slot, ...]
    outputs: tuple[Slot, ...]

    @cached_property
    def digest(self) -> str:
        """Digest of the operations, constants and shapes: the same for the same function, whatever its names."""
        found = hashlib.sha256()
        found.update(repr([slot.shape for slot in (*self.inputs, *self.outputs)]).encode())
        numbers: dict[torch.fx.Node, str] = {}
        for k, node in enumerate(self.module.graph.nodes):
            numbers[node] = f"%{k}"
            what = f"{node.op} {node.target}" if node.op == "call_function" else node.op
            operands = torch.fx.map_arg((node.args, node.kwargs), numbers.__getitem__)
            found.update(f"{what} {operands!r}\n".encode())
            if node.op == "get_attr":
                constant = getattr(self.module, str(node.target)).detach().contiguous()
                found.update(f"{constant.dtype} {tuple(constant.shape)}".encode())
                found.update(constant.cpu().view(torch.uint8).numpy().tobytes() if constant.numel() else b"")
        return found.hexdigest()


def trace(
    function: TensorFunction,
    inputs: Sequence[Slot],
    outputs: Sequence[Slot],
    name: str,
    dtype: torch.dtype = torch.float64,
) -> Traced:
    """Record ``function`` with a symbolic number of rows.

    :param function: takes one tensor ``(*shape, B)`` per input, returns one ``(*shape, B)`` (or with batch extent 1)
        per output
    :param inputs: slots of the arguments
    :param outputs: slots of the results
    :param name: what the function is, for messages
    :param dtype: of the arguments
    :raises CompileError: the function cannot be recorded, or what it does depends on the number of rows
    """
    # Imported here: they take half a second, and eager evaluation records nothing.
    from torch._dispatch.python import enable_python_dispatcher
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.proxy_tensor import make_fx
    from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv, StatelessSymbolicContext

    shape_env = ShapeEnv()
    mode = FakeTensorMode(shape_env=shape_env, allow_non_fake_inputs=True)
    context: StatelessSymbolicContext = StatelessSymbolicContext(dynamic_sizes=[DimDynamic.DYNAMIC])
    rows = mode.from_tensor(torch.empty(_HINT), static_shapes=False, symbolic_context=context).shape[0]

    def flat(*tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return tuple(function(*tensors))

    try:
        with mode, enable_python_dispatcher():
            arguments = [torch.empty(*slot.shape, rows, dtype=dtype) for slot in inputs]
            module = make_fx(flat)(*arguments)
    except Exception as e:
        raise CompileError(
            f"{name}: its forward function cannot be recorded as a graph ({type(e).__name__}: {_first_line(e)}). "
            "It must consist of torch operations on tensors (*base, *sub_batch, B) without branches on their values."
        ) from e
    guards = [str(guard.expr) for guard in shape_env.guards]
    if guards or isinstance(rows, int) or rows.node.maybe_as_int() is not None:
        raise CompileError(
            f"{name}: what its forward function does depends on the number of rows"
            f"{' (' + '; '.join(guards) + ')' if guards else ''}. "
            "Every row must be treated alike, for any number of rows."
        )
    module.graph.eliminate_dead_code()
    module.recompile()
    _check_results(module, outputs, name, dtype)
    return Traced(name, module, tuple(inputs), tuple(outputs))


def _check_results(module: torch.fx.GraphModule, outputs: Sequence[Slot], name: str, dtype: torch.dtype) -> None:
    results = next(node for node in module.graph.nodes if node.op == "output").args[0]
    if len(results) != len(outputs):
        raise CompileError(f"{name}: returned {len(results)} tensors, {len(outputs)} were expected")
    for slot, node in zip(outputs, results, strict=True):
        value = node.meta.get("val") if isinstance(node, torch.fx.Node) else node
        if value is None:
            value = getattr(module, str(node.target))
        shape = tuple(value.shape)
        symbolic = bool(shape) and not isinstance(shape[-1], int)
        if len(shape) != len(slot.shape) + 1 or shape[:-1] != slot.shape or not (symbolic or shape[-1] == 1):
            raise CompileError(f"{name}: '{slot.name}' came out as {shape}, expected {(*slot.shape, 'B')}")
        if value.dtype != dtype:
            raise CompileError(f"{name}: '{slot.name}' came out as {value.dtype}, expected {dtype}")


def _first_line(e: Exception) -> str:
    lines = str(e).strip().splitlines()
    return lines[0] if lines else "no message"
