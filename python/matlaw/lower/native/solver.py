"""Write Newton's method for one law as one C++ function: a few rows are solved from start to end in registers."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Final

from matlaw.ir.program import Place, Program, order_statements, places, reachable
from matlaw.ir.values import Value
from matlaw.lower.native.pieces import is_cut
from matlaw.lower.native.source import StatementWriter, address, pointer_to_input
from matlaw.lower.native.storage import MOST_ON_STACK
from matlaw.trace.slots import total_size

#: Up to so many statements, which then wait for each other more than for the processor, two vectors of rows are solved
#: side by side, statement by statement.
SHORT: Final = 600

#: A residual that falls to this part of it in a step converges quadratically: `solve::quick` of the runtime.
QUICK: Final = 0.01


def emit_solver(program: Program, unknowns: int) -> str:
    """The function ``matlaw_solve`` of docs/architecture.md, section 4.

    What does not depend on the unknowns is computed once. A step that nobody needs is not computed: the loop ends
    between the residual and the step. Sites, whose systems do not touch each other, are solved one after the other.

    :param program: of a graph of kind ``newton_step``, without products of layers: steps, ``b`` and ``sound``
    :param unknowns: how many of its inputs are unknowns; they come first
    :returns: nothing where sites act on each other, where the solutions of all of them take too much of the stack, or
        for a law so large that it has no place in registers anyway
    """
    if is_cut(program):
        return ""
    if program.sites > 1 and not _are_alone(program, unknowns):
        return ""
    one = "\n".join(_Solver(program, unknowns, 1).lines())
    if program.statement_count > SHORT:
        body = one
    else:
        # The rows of a call are a multiple of eight.
        two = "\n".join(_Solver(program, unknowns, 2).lines())
        body = f"#if MATLAW_LANES < 8\n{two}\n#else\n{one}\n#endif"
    head = "\n".join(pointer_to_input(k, slot) for k, slot in enumerate(program.inputs) if k >= unknowns)
    return f"""
MATLAW_EXPORT void matlaw_solve(const void * const * inputs, void * unknowns, void * verdicts, const double * limits,
                                int64_t most, int64_t ld, int64_t n)
{{
  real * const x = (real *)unknowns;
  real * const report = (real *)verdicts;
{head}
{body}
}}
"""


def _are_alone(program: Program, unknowns: int) -> bool:
    """True when the sites of a program can be solved one after the other."""
    steps, residual, _ = program.values
    wanted = [*steps, *residual]
    return (
        total_size(program.inputs[:unknowns]) <= MOST_ON_STACK
        and all(v.varies for v in wanted)
        and not any(v.op == "site_sum" for v in reachable(wanted))
    )


class _Solver:
    """The loop over the rows, so many vectors of them at a time."""

    def __init__(self, program: Program, unknowns: int, vectors: int) -> None:
        self.vectors = vectors
        self.sites = program.sites
        self.steps, self.residual, (sound,) = program.values
        #: 1 where a step is sound. The program tells of the steps of all sites together, a site asks for its own.
        self.sound = next((v.args[0] for v in reachable([sound]) if v.op == "site_sum"), sound)
        self.writer = StatementWriter(program, float32=False)
        needed = [*self.residual, *self.steps, self.sound]
        every = reachable(needed)
        loads = {v.data: v for v in every if v.op == "input"}
        #: Where the unknowns are in memory, those that differ by their site only counted once.
        self.places: list[Place] = []
        moving: set[int] = set()
        first = 0
        for k, slot in enumerate(program.inputs[:unknowns]):
            for place in places(slot, self.sites):
                v = loads.get((k, place.component, place.stride))
                if v is not None:
                    self.writer.names[v.id] = f"u[{len(self.places)}]"
                    moving.add(v.id)
                self.places.append(Place(first + place.component, place.stride))
            first += slot.size
        moving = _moving(every, moving)
        #: What an iteration needs and does not change.
        self.fixed = [a for v in every if v.id in moving for a in v.args if a.id not in moving]
        self.fixed += [v for v in needed if v.id not in moving]

    def lines(self) -> Iterable[str]:
        """All of it."""
        yield f"  for (int64_t i = 0; i < n; i += {self.vectors} * MATLAW_LANES)"
        yield "  {"
        yield from _indented(self._rows() if self.sites == 1 else self._rows_with_sites(), 2)
        yield "  }"

    def _rows(self) -> Iterable[str]:
        yield from self._newton()
        for c, place in enumerate(self.places):
            where = _at(place)
            yield from self._for_each(f"store({where}, i, where(done_0, u_0[{c}], load({where}, i)));")
        yield from self._report("start_0", "last_0", "count_0", "done_0")

    def _rows_with_sites(self) -> Iterable[str]:
        """One site after the other; a row is done when all its sites are, and keeps its guess else."""
        size = len(self.places) * self.sites
        yield from self._statements([v for v in self.fixed if not v.varies])
        yield self._comment("one site after the other")
        yield from self._for_each(
            f"rows solved_0[{size}];",
            "mask all_0 = all_mask(true);",
            "rows first_0 = all(0.0), final_0 = all(0.0), longest_0 = all(0.0);",
        )
        yield f"for (int64_t s = 0; s < {self.sites}; ++s)"
        yield "{"
        yield from _indented(self._newton())
        yield from _indented(
            self._for_each(
                *(f"solved_0[{p.component} + s * {p.stride}] = u_0[{c}];" for c, p in enumerate(self.places)),
                "all_0 = all_0 & done_0;",
                "first_0 = first_0 + start_0 * start_0;",
                "final_0 = final_0 + last_0 * last_0;",
                "longest_0 = max_of(longest_0, count_0);",
            )
        )
        yield "}"
        yield f"for (int64_t c = 0; c < {size}; ++c)"
        yield "{"
        yield from _indented(self._for_each("store(x + c * ld, i, where(all_0, solved_0[c], load(x + c * ld, i)));"))
        yield "}"
        yield from self._report("sqrt_of(first_0)", "sqrt_of(final_0)", "longest_0", "all_0")

    def _report(self, first: str, last: str, count: str, done: str) -> Iterable[str]:
        yield from self._for_each(
            f"store(report, i, {first});",
            f"store(report + ld, i, {last});",
            f"store(report + 2 * ld, i, {count});",
            f"store(report + 3 * ld, i, where({done}, all(1.0), all(0.0)));",
        )

    def _newton(self) -> Iterable[str]:
        """Newton's method for the rows at hand, at one site."""
        yield from self._for_each(f"rows u_0[{len(self.places)}];")
        for c, place in enumerate(self.places):
            yield from self._for_each(f"u_0[{c}] = load({_at(place)}, i);")
        yield from self._statements(self.fixed)
        yield self._comment("no row is done")
        yield from self._for_each(
            "mask active_0 = all_mask(true), done_0 = all_mask(false);",
            "mask settled_0 = all_mask(false), quick_0 = all_mask(false);",
            "rows start_0 = all(0.0), last_0 = all(0.0), before_0 = all(0.0), count_0 = all(0.0);",
        )
        yield "for (int64_t k = 0;; ++k)"
        yield "{"
        yield from _indented(self._iteration())
        yield "}"

    def _iteration(self) -> Iterable[str]:
        yield from self._statements(self.residual)
        square = " + ".join(f"{b} * {b}" for b in self._factors(self.residual))
        atol, rtol = self._tolerances()
        active = " | ".join(_of_vector("active_0", k) for k in range(self.vectors))
        yield self._comment("which rows are done")
        yield from self._for_each(
            f"const rows norm_0 = sqrt_of({square});",
            "start_0 = k == 0 ? norm_0 : start_0;",
            f"quick_0 = quick_0 & (norm_0 < all({QUICK}) * before_0);",
            f"const mask near_0 = (settled_0 | quick_0) & (norm_0 < all({rtol}) * start_0);",
            f"const mask met_0 = active_0 & ((norm_0 < all({atol})) | near_0);",
            "count_0 = where(active_0, all((real)k), count_0);",
            "last_0 = where(active_0, norm_0, last_0);",
            "done_0 = done_0 | met_0;",
            "active_0 = active_0 & ~met_0 & (norm_0 < all(__builtin_inf()));",
        )
        yield "if ((double)k >= limits[2])"
        yield "{"
        yield from _indented(self._for_each("active_0 = active_0 & (norm_0 < all(0.5) * before_0);"))
        yield "}"
        yield from self._for_each("before_0 = norm_0;")
        yield f"if (k == most || !any_of({active}))"
        yield "  break;"
        yield from self._statements([*self.steps, self.sound])
        yield self._comment("move the unknowns of rows whose step is sound")
        yield from self._for_each(f"active_0 = active_0 & ({self.writer.names[self.sound.id]} == all(1.0));")
        for c, step in enumerate(self._factors(self.steps)):
            yield from self._for_each(f"u[{c}] = where(active_0, u[{c}] + {step}, u[{c}]);")
        moved = " + ".join(f"{step} * {step}" for step in self._factors(self.steps))
        size = " + ".join(f"u[{c}] * u[{c}]" for c in range(len(self.places)))
        yield from self._for_each(
            f"const rows moved_0 = {moved}, size_0 = sqrt_of({size}) + all(limits[0]);",
            "const rows strict_0 = all(limits[3]) * size_0, loose_0 = all(limits[4]) * size_0;",
            "settled_0 = moved_0 < strict_0 * strict_0;",
            "quick_0 = moved_0 < loose_0 * loose_0;",
        )

    def _tolerances(self) -> tuple[str, str]:
        """The tolerances of a residual. The sites of a row meet those of the row when each meets its share of them."""
        if self.sites == 1:
            return "limits[0]", "limits[1]"
        return f"limits[0] * {math.sqrt(0.5 / self.sites)!r}", f"limits[1] * {math.sqrt(0.5)!r}"

    def _for_each(self, *lines: str) -> Iterable[str]:
        """These lines for each vector of rows."""
        for line in lines:
            for k in range(self.vectors):
                yield _of_vector(line, k)

    def _statements(self, wanted: Sequence[Value]) -> Iterable[str]:
        """What computes these values."""
        for v in order_statements(wanted, self.writer.names):
            for line in self.writer.define(v):
                yield from [line] if line.startswith("//") else self._for_each(line)

    def _factors(self, values: Sequence[Value]) -> Iterable[str]:
        """Values as factors of a product."""
        for v in values:
            name = self.writer.names[v.id]
            yield name if name.isidentifier() or name.endswith((")", "]")) else f"({name})"

    def _comment(self, what: str) -> str:
        self.writer.origin = None  # whatever comes next says where it comes from
        return f"// Newton's method: {what}"


def _at(place: Place) -> str:
    """Address of an unknown."""
    return address("x", place)


def _indented(lines: Iterable[str], levels: int = 1) -> Iterable[str]:
    return ("  " * levels + line for line in lines)


_PER_VECTOR = (
    "all|solved|first|final|longest|u|active|done|settled|start|last|before|count|norm|near|met|quick|moved|size|strict"
    "|loose"
)
_OWN = re.compile(rf"\bt(\d+)\b(?!_)|\bu\[|\b({_PER_VECTOR})_0\b|, i(?=[,)])")


def _of_vector(line: str, k: int) -> str:
    """A statement about the first vector as one about another.

    >>> _of_vector("const rows t3 = load(x1, i) + u[2];", 1)
    'const rows t3_1 = load(x1, i + MATLAW_LANES) + u_1[2];'
    >>> _of_vector("done_0 = done_0 | met_0;", 1)
    'done_1 = done_1 | met_1;'
    """

    def own(match: re.Match[str]) -> str:
        if match[0] == ", i":
            return ", i" if k == 0 else f", i + {f'{k} * ' if k > 1 else ''}MATLAW_LANES"
        if match[0] == "u[":
            return f"u_{k}["
        return f"t{match[1]}_{k}" if match[1] else f"{match[2]}_{k}"

    statement, separator, comment = line.partition(" //")
    return _OWN.sub(own, statement) + separator + comment


def _moving(every: list[Value], unknowns: set[int]) -> set[int]:
    """What is, or depends on, an unknown; operands come first in `every`."""
    moving = set(unknowns)
    for v in every:
        if any(a.id in moving for a in v.args):
            moving.add(v.id)
    return moving
