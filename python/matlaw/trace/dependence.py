"""What derivatives depend on, from recorded operations: for functions that have no scalars."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import torch

from matlaw.errors import CompileError
from matlaw.tensors.pull_back import vjp
from matlaw.trace.forward import Traced, trace
from matlaw.trace.recorder import OF_SHAPE, Shaped
from matlaw.trace.slots import Slot

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from matlaw.trace.graphs import Forward


def arguments_behind(traced: Traced, differentiably: bool = False) -> list[set[int]]:
    """For each result of a recorded function the positions of the arguments whose values it may depend on.

    :param traced: the function
    :param differentiably: leave out what acts through masks and integers only: the derivative by it is zero

    >>> x, y = Slot("x", (2,)), Slot("y", (2,))
    >>> [sorted(found) for found in arguments_behind(trace(lambda x, y: [2.0 * x, x * y], [x, y], [x, y], "example"))]
    [[0], [0, 1]]
    """
    sources: dict[torch.fx.Node, list[torch.fx.Node]] = {}
    for node in traced.module.graph.nodes:
        cut = node.target in OF_SHAPE or (differentiably and not _floating(node))
        operands = [] if cut else list(node.all_input_nodes)
        sources.setdefault(node, []).extend(operands)
        # What shares its memory with an operand, or is written to it, is there wherever the operand is used.
        for operand in _same_memory(node):
            sources[operand].append(node)
    placeholders = traced.module.graph.find_nodes(op="placeholder")
    results = next(iter(traced.module.graph.find_nodes(op="output"))).args[0]
    found = []
    for result in results:
        seen, ahead = {result}, [result]
        while ahead:
            for node in sources[ahead.pop()]:
                if node not in seen:
                    seen.add(node)
                    ahead.append(node)
        found.append({k for k, node in enumerate(placeholders) if node in seen})
    return found


def _floating(node: torch.fx.Node) -> bool:
    value = node.meta.get("val")
    return not isinstance(value, Shaped) or value.dtype.is_floating_point


def _same_memory(node: torch.fx.Node) -> list[torch.fx.Node]:
    """The operands that the result of an operation may be a view of, and those that it writes to."""
    if not isinstance(node.target, torch._ops.OpOverload):
        return list(node.all_input_nodes) if node.op == "call_function" else []  # a part of several results
    shared: list[torch.fx.Node] = []
    for k, argument in enumerate(node.target._schema.arguments):
        if argument.alias_info is not None:
            value = node.args[k] if k < len(node.args) else node.kwargs.get(argument.name)
            torch.fx.map_arg(value, shared.append)
    return shared


class Dependence:
    """Which derivatives of a function are zero or the same for all rows, as far as its operations tell.

    :param forward: the function
    """

    def __init__(self, forward: Forward) -> None:
        self.forward = forward
        self._pull_backs: dict[int, _PullBack | None] = {}

    def depends(self, output: int, position: int) -> bool:
        """Whether the derivative of an output by an input may differ from zero, both by their positions."""
        return position in self._behind[output]

    def constant_block(self, output: int, position: int) -> NDArray | None:
        """The derivative of an output by an input when no row has another one, both by their positions.

        :returns: ``(*output, *input)``; ``None`` where it may depend on a value
        """
        shape = self.forward.outputs[output].shape + self.forward.inputs[position].shape
        if not self.depends(output, position):
            return np.zeros(shape)
        if output not in self._pull_backs:
            try:
                self._pull_backs[output] = _PullBack(self.forward, output)
            except CompileError:  # reverse mode looks at values: they matter
                self._pull_backs[output] = None
        pull_back = self._pull_backs[output]
        return pull_back.constant_block(position) if pull_back else None

    @cached_property
    def _behind(self) -> list[set[int]]:
        forward = self.forward
        traced = trace(forward.function, forward.inputs, forward.outputs, forward.name)
        return arguments_behind(traced, differentiably=True)


class _PullBack:
    """The gradients of one output in reverse mode, recorded as a function of the inputs and the cotangent.

    :param forward: the function
    :param output: position of the output
    :raises CompileError: they cannot be recorded
    """

    def __init__(self, forward: Forward, output: int) -> None:
        self.slot = forward.outputs[output]
        self.positions = [k for k, slot in enumerate(forward.inputs) if not slot.shared]
        inputs = (*forward.inputs, Slot("cotangent", self.slot.shape))
        outputs = [forward.inputs[k] for k in self.positions]

        def gradients(*flat: torch.Tensor) -> tuple[torch.Tensor, ...]:
            *arguments, cotangent = flat

            def value(*varied: torch.Tensor) -> torch.Tensor:
                merged = list(arguments)
                for k, x in zip(self.positions, varied, strict=True):
                    merged[k] = x
                return forward.function(*merged)[output].expand(cotangent.shape)

            _, pull_back = vjp(value, *(arguments[k] for k in self.positions))
            return pull_back(cotangent)

        self.traced = trace(gradients, inputs, outputs, forward.name)
        self.behind = arguments_behind(self.traced)

    def constant_block(self, position: int) -> NDArray | None:
        """The block of an input when it depends on the cotangent only, ``(*output, *input)``."""
        which = self.positions.index(position)
        if self.behind[which] - {len(self.traced.inputs) - 1}:
            return None
        gradient = self._gradients_of_unit_vectors[which]
        shape = self.traced.outputs[which].shape
        return gradient.expand(*shape, self.slot.size).movedim(-1, 0).reshape(self.slot.shape + shape).numpy()

    @cached_property
    def _gradients_of_unit_vectors(self) -> list[torch.Tensor]:
        """By every input ``(*input, n or 1)``, for the n unit vectors as cotangents.

        What depends on the other arguments, which are any regular ones, is of no use.
        """
        n, generator = self.slot.size, torch.Generator().manual_seed(1)
        shapes = [slot.batched_shape(n) for slot in self.traced.inputs[:-1]]
        arguments = [torch.rand(*shape, dtype=torch.float64, generator=generator) + 0.5 for shape in shapes]
        unit = torch.eye(n, dtype=torch.float64).reshape(*self.slot.shape, n)
        with torch.no_grad():
            return [x.clone() for x in self.traced.module(*arguments, unit)]
