"""Cut a large kernel into functions: a compiler takes time with the square of a function to assign registers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from matlaw.ir.program import Program, order_statements, reachable
from matlaw.ir.values import Value
from matlaw.lower.native.source import StatementWriter
from matlaw.lower.native.storage import storage_of

#: Kernels of more statements are cut; smaller ones would run up to a tenth longer.
LARGEST_FUNCTION: Final = 8000
#: Statements of a piece.
PIECE: Final = 2000

_ARGUMENTS = "const void * const * inputs, void * const * outputs, rows * shared, mask * masks"


def is_cut(program: Program) -> bool:
    """True for a kernel that is cut: one of many statements without loops, which have scopes of their own."""
    is_large = program.sites == 1 and program.statement_count > LARGEST_FUNCTION
    return is_large and not any(v.op == "dot" for v in reachable(program.roots))


class Pieces:
    """The statements of a kernel as functions that are called one after the other.

    What later pieces need of a value is in one of two arrays, of real numbers and of masks.

    :param writer: of the kernel's statements
    :param pointers: the declarations of pointers to inputs and outputs, by their names
    """

    def __init__(self, writer: StatementWriter, pointers: dict[str, str]) -> None:
        self.writer = writer
        self.pointers = pointers
        self.pieces = _cut(order_statements(writer.roots.values()))
        home = {v.id: k for k, piece in enumerate(self.pieces) for v in piece}
        crossing = {
            a.id: a
            for k, piece in enumerate(self.pieces)
            for v in piece
            for a in v.args
            if _takes_time(a) and home[a.id] != k
        }
        #: Which of the two arrays a value is in that a later piece needs, and where.
        self.places: dict[int, str] = {}
        counts = {"shared": 0, "masks": 0}
        for v in crossing.values():
            array = "masks" if v.is_mask else "shared"
            self.places[v.id] = f"{array}[{counts[array]}]"
            counts[array] += 1
        self.counts = counts
        self.arrays = [name for block in writer.blocks for name in block.arrays()]

    def functions(self) -> str:
        """Their definitions."""
        further = "".join(f", rows * {name}" for name in self.arrays)
        text = ""
        for k, piece in enumerate(self.pieces):
            lines = [f"  {line}".rstrip() for line in self._statements(piece)]
            body = "\n".join(lines)
            used = set(re.findall(r"\b[xy]\d+\b", body))
            head = "\n".join(line for name, line in self.pointers.items() if name in used)
            text += (
                f"static __attribute__((noinline)) void piece_{k}({_ARGUMENTS}{further}, int64_t ld, int64_t i)\n"
                f"{{\n{head}\n{body}\n}}\n\n"
            )
        return text

    def calls(self) -> Iterable[str]:
        """The calls."""
        storage = storage_of(sum(self.counts.values()))
        yield f"{storage}rows shared[{max(self.counts['shared'], 1)}];"
        yield f"{storage}mask masks[{max(self.counts['masks'], 1)}];"
        further = "".join(f", {name}" for name in self.arrays)
        for k in range(len(self.pieces)):
            yield f"piece_{k}(inputs, outputs, shared, masks{further}, ld, i);"

    def _statements(self, piece: Sequence[Value]) -> Iterable[str]:
        writer = self.writer
        writer.names, writer.origin = {}, None
        for v in piece:
            for a in (*v.args, v):
                if a.id in writer.names:
                    continue
                if a is not v and _takes_time(a):
                    writer.names[a.id] = f"t{a.id}"
                    yield f"const {'mask' if a.is_mask else 'rows'} t{a.id} = {self.places[a.id]};"
                else:
                    yield from writer.define(a)
            if v.id in self.places:
                yield f"{self.places[v.id]} = {writer.names[v.id]};"
            yield from writer.store(v, looping=False)


def _takes_time(v: Value) -> bool:
    """False for what every piece loads or writes by itself."""
    return v.op not in ("input", "const", "mask")


def _cut(order: Sequence[Value]) -> list[list[Value]]:
    """Pieces of the statements; what is loaded or constant counts for nothing and goes with what uses it."""
    pieces: list[list[Value]] = [[]]
    count = 0
    for v in order:
        if count == PIECE:
            pieces.append([])
            count = 0
        pieces[-1].append(v)
        count += _takes_time(v)
    return pieces
