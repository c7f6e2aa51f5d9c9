"""The function of every graph in plain torch: derivatives in reverse mode, all rows of a Jacobian in one pass.

A Jacobian of n outputs is one reverse pass over n copies of the batch, copy d seeded with the unit vector d: few nodes,
and exact. These functions are what Inductor compiles and what the self-check calls eager.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from matlaw.tensors.pull_back import vjp
from matlaw.trace.forward import TensorFunction
from matlaw.trace.graphs import Forward, Graph, Pair, Primary, offsets
from matlaw.trace.slots import Slot, total_size


def graph_function(graph: Graph) -> TensorFunction:
    """A graph as a function of flat tensors ``(*shape, B)``, returning fresh contiguous tensors.

    A batch-independent block comes without its batch axis.
    """
    makers = {
        "value": _value,
        "predictor": _value,
        "jvp": _jvp,
        "residual": _residual,
        "jacobian": _jacobian,
        "jacobian_given": _jacobian_given,
        "solve": _solve,
        "solve_ift": _solve_ift,
        "param_jvp": _param_jvp,
        "dr_dparam": _dr_dparam,
        "solve_param": _solve_ift,
        "matvec": _matvec,
        "precond_setup": _precond_setup,
        "precond_apply": _precond_apply,
    }
    function = makers[graph.kind](graph)

    def fresh(*flat: torch.Tensor) -> list[torch.Tensor]:
        with torch.no_grad():
            return [x.clone(memory_format=torch.contiguous_format) for x in function(*flat)]

    return fresh


def _full(x: torch.Tensor, slot: Slot, rows: int) -> torch.Tensor:
    return x.expand(*slot.shape, rows)


def stacked(forward: Forward, arguments: Sequence[torch.Tensor], rows: int) -> torch.Tensor:
    """All outputs one below the other, ``(n, rows)``."""
    results = forward.function(*arguments)
    return torch.cat([_full(x, s, rows).reshape(s.size, rows) for s, x in zip(forward.outputs, results, strict=True)])


def dense_jacobian(
    forward: Forward, arguments: Sequence[torch.Tensor], by: Sequence[str]
) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """All outputs and their derivatives.

    :param forward: the function, ``n`` output components in all
    :param arguments: one ``(*shape, B)`` per input
    :param by: names of inputs to differentiate by
    :returns: ``(n, B)``, and per name in ``by`` a block ``(n, size, B)``
    """
    positions = [forward.position(name) for name in by]
    n, rows = total_size(forward.outputs), arguments[0].shape[-1]
    copies = [
        x if slot.shared else x.unsqueeze(-2).expand(*x.shape[:-1], n, rows).reshape(*x.shape[:-1], n * rows)
        for slot, x in zip(forward.inputs, arguments, strict=True)
    ]

    def function(*varied: torch.Tensor) -> torch.Tensor:
        merged = list(copies)
        for k, x in zip(positions, varied, strict=True):
            merged[k] = x
        return stacked(forward, merged, n * rows)

    value, pull_back = vjp(function, *(copies[k] for k in positions))
    unit = torch.eye(n, dtype=value.dtype, device=value.device)
    gradients = pull_back(unit.unsqueeze(-1).expand(n, n, rows).reshape(n, n * rows))
    blocks = [
        g.reshape(forward.inputs[k].size, n, rows).transpose(0, 1) for k, g in zip(positions, gradients, strict=True)
    ]
    return value.reshape(n, n, rows)[:, 0], blocks


def jacobian_product(
    forward: Forward, arguments: Sequence[torch.Tensor], by: Sequence[str], direction: torch.Tensor
) -> torch.Tensor:
    """The derivative of all outputs in one direction, without the matrix: the pull-back of the pull-back.

    :param forward: the function, ``n`` output components in all
    :param arguments: one ``(*shape, B)`` per input
    :param by: names of the inputs that change
    :param direction: by how much, ``(total size of by, B)``
    :returns: ``(n, B)``
    """
    positions = [forward.position(name) for name in by]
    n, rows = total_size(forward.outputs), direction.shape[-1]

    def function(*varied: torch.Tensor) -> torch.Tensor:
        merged = list(arguments)
        for k, x in zip(positions, varied, strict=True):
            merged[k] = x
        return stacked(forward, merged, rows)

    def gradient(cotangent: torch.Tensor) -> torch.Tensor:
        _, pull_back = vjp(function, *(arguments[k] for k in positions))
        found = pull_back(cotangent)
        return torch.cat([g.reshape(forward.inputs[k].size, rows) for k, g in zip(positions, found, strict=True)])

    _, push = vjp(gradient, torch.zeros(n, rows, dtype=direction.dtype, device=direction.device))
    return push(direction)[0]


def diagonal_blocks(A: torch.Tensor, blocks: Sequence[tuple[int, int]]) -> torch.Tensor:
    """Blocks on the diagonal of matrices, one after the other and row-major.

    :param A: ``(n, n, B)``
    :param blocks: first component and size of each
    :returns: ``(entries, B)``
    """
    if all(size == 1 for _, size in blocks) and len(blocks) == A.shape[0]:
        return torch.diagonal(A).transpose(0, 1)
    rows = A.shape[-1]
    return torch.cat([A[at : at + k, at : at + k].reshape(k * k, rows) for at, k in blocks])


def _forward(graph: Graph) -> Forward:
    assert graph.forward is not None, graph.kind
    return graph.forward


def _value(graph: Graph) -> TensorFunction:
    forward = _forward(graph)

    def function(*flat: torch.Tensor) -> list[torch.Tensor]:
        results = forward.function(*flat)
        return [_full(x, s, flat[0].shape[-1]) for s, x in zip(forward.outputs, results, strict=True)]

    return function


def _jvp(graph: Graph) -> TensorFunction:
    value, blocks = _value(graph), _pair_blocks(graph)
    return lambda *flat: [*value(*flat), *blocks(*flat)]


def _param_jvp(graph: Graph) -> TensorFunction:
    return _pair_blocks(graph)


def _pair_blocks(graph: Graph) -> TensorFunction:
    """The block of every pair of a graph."""
    forward = _forward(graph)
    varied: list[Pair] = [p for p in graph.pairs if p.constant is None]
    by = list(dict.fromkeys(p.input for p in varied))
    wanted = {p.output for p in varied}
    narrowed = _restricted(forward, wanted)
    row = offsets(narrowed.outputs)
    sizes = {slot.name: slot.size for slot in forward.outputs}

    def function(*flat: torch.Tensor) -> list[torch.Tensor]:
        rows = flat[0].shape[-1]
        outputs: list[torch.Tensor] = []
        blocks = dict(zip(by, dense_jacobian(narrowed, flat, by)[1], strict=True)) if by else {}
        for pair, slot in zip(graph.pairs, graph.outputs[len(graph.outputs) - len(graph.pairs) :], strict=True):
            if pair.constant is not None:
                outputs.append(torch.as_tensor(pair.constant, dtype=flat[0].dtype, device=flat[0].device))
            else:
                start = row[pair.output]
                block = blocks[pair.input][start : start + sizes[pair.output]]
                outputs.append(block.reshape(*slot.shape, rows))
        return outputs

    return function


def _restricted(forward: Forward, outputs: set[str]) -> Forward:
    """The same function with some of its outputs only."""
    kept = [k for k, slot in enumerate(forward.outputs) if slot.name in outputs]

    def function(*flat: torch.Tensor) -> list[torch.Tensor]:
        results = forward.function(*flat)
        return [results[k] for k in kept]

    return Forward(forward.name, function, forward.inputs, tuple(forward.outputs[k] for k in kept))


def _residual(graph: Graph) -> TensorFunction:
    forward = _forward(graph)
    return lambda *flat: [-stacked(forward, flat, flat[0].shape[-1])]


def _jacobian(graph: Graph) -> TensorFunction:
    forward = _forward(graph)

    def function(*flat: torch.Tensor) -> list[torch.Tensor]:
        value, blocks = dense_jacobian(forward, flat, graph.columns)
        return [torch.cat(blocks, dim=1), -value]

    return function


def _jacobian_given(graph: Graph) -> TensorFunction:
    forward = _forward(graph)
    return lambda *flat: [torch.cat(dense_jacobian(forward, flat, graph.columns)[1], dim=1)]


def _dr_dparam(graph: Graph) -> TensorFunction:
    forward = _forward(graph)
    unknowns = [slot.name for slot in forward.outputs]

    def function(*flat: torch.Tensor) -> list[torch.Tensor]:
        blocks = dense_jacobian(forward, flat, [*unknowns, *graph.columns])[1]
        return [torch.cat(blocks[: len(unknowns)], dim=1), torch.cat(blocks[len(unknowns) :], dim=1)]

    return function


def _matvec(graph: Graph) -> TensorFunction:
    forward = _forward(graph)
    return lambda *flat: [jacobian_product(forward, flat[:-1], graph.columns, flat[-1])]


def _precond_setup(graph: Graph) -> TensorFunction:
    forward = _forward(graph)

    def function(*flat: torch.Tensor) -> list[torch.Tensor]:
        A = torch.cat(dense_jacobian(forward, flat, graph.columns)[1], dim=1)
        return [diagonal_blocks(A, graph.blocks)]

    return function


def _precond_apply(graph: Graph) -> TensorFunction:
    def function(M: torch.Tensor, r: torch.Tensor) -> list[torch.Tensor]:
        if all(size == 1 for _, size in graph.blocks):
            return [r / M]
        parts, start = [], 0
        for at, k in graph.blocks:
            block = M[start : start + k * k].reshape(k, k, M.shape[-1])
            parts.append(_solved(block, r[at : at + k].unsqueeze(1), None).squeeze(1))
            start += k * k
        return [torch.cat(parts)]

    return function


def _solved(A: torch.Tensor, right: torch.Tensor, primary: Primary) -> torch.Tensor:
    """``A^{-1} right``, batch last; by block elimination when a primary block is named.

    Every slice and product is over ranges, as one group or the other comes first.
    """
    if primary is None:
        return torch.linalg.solve(A.permute(2, 0, 1), right.permute(2, 0, 1)).permute(1, 2, 0)
    n, (rows, columns) = A.shape[0], primary

    def rest(taken: range) -> slice:
        return slice(len(taken), n) if taken.start == 0 else slice(0, taken.start)

    p, q = slice(rows.start, rows.stop), slice(columns.start, columns.stop)
    s, t = rest(rows), rest(columns)
    m = right.shape[1]
    solution = _solved(A[p, q], torch.cat([A[p, t], right[p]], dim=1), None)
    Y, z = solution[:, :-m], solution[:, -m:]
    coupling = A[s, q].permute(2, 0, 1)
    complement = A[s, t] - torch.matmul(coupling, Y.permute(2, 0, 1)).permute(1, 2, 0)
    x_s = _solved(complement, right[s] - torch.matmul(coupling, z.permute(2, 0, 1)).permute(1, 2, 0), None)
    x_p = z - torch.matmul(Y.permute(2, 0, 1), x_s.permute(2, 0, 1)).permute(1, 2, 0)
    return torch.cat([x_p, x_s] if columns.start == 0 else [x_s, x_p])


def _solve(graph: Graph) -> TensorFunction:
    return lambda A, b: [_solved(A, b.unsqueeze(1), graph.primary).squeeze(1)]


def _solve_ift(graph: Graph) -> TensorFunction:
    shapes = [slot.shape for slot in graph.outputs]
    places = ift_places(graph)

    def function(A: torch.Tensor, right: torch.Tensor) -> list[torch.Tensor]:
        solution = -_solved(A, right, graph.primary)
        return [
            solution[row : row + n, column : column + m].reshape(*shape, A.shape[-1])
            for shape, (row, n, column, m) in zip(shapes, places, strict=True)
        ]

    return function


def ift_places(graph: Graph) -> list[tuple[int, int, int, int]]:
    """Per pair of a graph of sensitivities: first row, rows, first column, columns in the solution."""
    row, column = offsets(graph.rows), offsets(graph.column_slots)
    sizes = {slot.name: slot.size for slot in graph.rows}
    widths = {slot.name: slot.size for slot in graph.column_slots}
    return [(row[p.output], sizes[p.output], column[p.input], widths[p.input]) for p in graph.pairs]
