"""Write Newton's method for one law as one C++ function: a few rows are solved from start to end in registers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from matlaw.ir.program import Program, order_statements, reachable
from matlaw.ir.values import Value
from matlaw.lower.native.source import StatementWriter, pointer_to_input

#: Up to so many statements, which then wait for each other more than for the processor, two vectors of rows are solved
#: side by side, statement by statement.
SHORT: Final = 600

#: A residual that falls to this part of it in a step converges quadratically: `solve::quick` of the runtime.
QUICK: Final = 0.01


def emit_solver(program: Program, unknowns: int) -> str:
    """The function ``matlaw_solve`` of docs/architecture.md, section 4.

    What does not depend on the unknowns is computed once. A step that nobody needs is not computed: the loop ends
    between the residual and the step.

    :param program: of a graph of kind ``newton_step``, without sites and products of layers: steps, ``b`` and ``sound``
    :param unknowns: how many of its inputs are unknowns; they come first
    """
    one = "\n".join(_body(program, unknowns, 1))
    if program.statement_count > SHORT:
        body = one
    else:
        # The rows of a call are a multiple of eight.
        two = "\n".join(_body(program, unknowns, 2))
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


def _body(program: Program, unknowns: int, vectors: int) -> Iterable[str]:
    """The loop over the rows, so many vectors of them at a time."""
    steps, residual, (sound,) = program.values
    n = len(steps)
    writer = StatementWriter(program, float32=False)
    every = reachable(v for values in program.values for v in values)
    loads = [(v, v.data) for v in every if v.op == "input" and isinstance(v.data, tuple)]
    first = 0
    for k in range(unknowns):
        for v, (slot, component, _) in loads:
            if slot == k:
                writer.names[v.id] = f"u[{first + component}]"
        first += program.inputs[k].size
    moving = _moving(every, {v.id for v, (slot, *_) in loads if slot < unknowns})
    fixed = [a for v in every if v.id in moving for a in v.args if a.id not in moving]
    fixed += [v for v in (*residual, *steps, sound) if v.id not in moving]

    def for_each(*lines: str) -> Iterable[str]:
        for line in lines:
            for k in range(vectors):
                yield _of_vector(line, k)

    def statements(wanted: Sequence[Value]) -> Iterable[str]:
        for v in order_statements(wanted, writer.names):
            for line in writer.define(v):
                yield from [line] if line.startswith("//") else for_each(line)

    def of_the_loop(what: str) -> str:
        writer.origin = None  # whatever comes next says where it comes from
        return f"// Newton's method: {what}"

    def active() -> str:
        return " | ".join(_of_vector("active_0", k) for k in range(vectors))

    yield f"  for (int64_t i = 0; i < n; i += {vectors} * MATLAW_LANES)"
    yield "  {"
    start = [
        *for_each(f"rows u_0[{n}];"),
        f"for (int64_t c = 0; c < {n}; ++c)",
        "{",
        *(f"  {line}" for line in for_each("u_0[c] = load(x + c * ld, i);")),
        "}",
        *statements(fixed),
        of_the_loop("no row is done"),
        *for_each(
            "mask active_0 = all_mask(true), done_0 = all_mask(false);",
            "mask settled_0 = all_mask(false), quick_0 = all_mask(false);",
            "rows start_0 = all(0.0), last_0 = all(0.0), before_0 = all(0.0), count_0 = all(0.0);",
        ),
    ]
    yield from (f"    {line}" for line in start)
    yield "    for (int64_t k = 0;; ++k)"
    yield "    {"
    residuals = list(statements(residual))
    square = " + ".join(f"{b} * {b}" for b in (_factor(writer.names[v.id]) for v in residual))
    loop = [
        *residuals,
        of_the_loop("which rows are done"),
        *for_each(
            f"const rows norm_0 = sqrt_of({square});",
            "start_0 = k == 0 ? norm_0 : start_0;",
            f"quick_0 = quick_0 & (norm_0 < all({QUICK}) * before_0);",
            "const mask near_0 = (settled_0 | quick_0) & (norm_0 < all(limits[1]) * start_0);",
            "const mask met_0 = active_0 & ((norm_0 < all(limits[0])) | near_0);",
            "count_0 = where(active_0, all((real)k), count_0);",
            "last_0 = where(active_0, norm_0, last_0);",
            "done_0 = done_0 | met_0;",
            "active_0 = active_0 & ~met_0 & (norm_0 < all(__builtin_inf()));",
        ),
        "if ((double)k >= limits[2])",
        "{",
        *(f"  {line}" for line in for_each("active_0 = active_0 & (norm_0 < all(0.5) * before_0);")),
        "}",
        *for_each("before_0 = norm_0;"),
        f"if (k == most || !any_of({active()}))",
        "  break;",
        *statements([*steps, sound]),
        of_the_loop("move the unknowns of rows whose step is sound"),
        *for_each(f"active_0 = active_0 & ({writer.names[sound.id]} == all(1.0));"),
    ]
    for c, v in enumerate(steps):
        loop += for_each(f"u[{c}] = where(active_0, u[{c}] + {_factor(writer.names[v.id])}, u[{c}]);")
    moved = " + ".join(f"{s} * {s}" for s in (_factor(writer.names[v.id]) for v in steps))
    size = " + ".join(f"u[{c}] * u[{c}]" for c in range(n))
    loop += for_each(
        f"const rows moved_0 = {moved}, size_0 = sqrt_of({size}) + all(limits[0]);",
        "const rows strict_0 = all(limits[3]) * size_0, loose_0 = all(limits[4]) * size_0;",
        "settled_0 = moved_0 < strict_0 * strict_0;",
        "quick_0 = moved_0 < loose_0 * loose_0;",
    )
    yield from (f"      {line}" for line in loop)
    yield "    }"
    end = [
        f"for (int64_t c = 0; c < {n}; ++c)",
        "{",
        *(f"  {line}" for line in for_each("store(x + c * ld, i, where(done_0, u_0[c], load(x + c * ld, i)));")),
        "}",
        *for_each(
            "store(report, i, start_0);",
            "store(report + ld, i, last_0);",
            "store(report + 2 * ld, i, count_0);",
            "store(report + 3 * ld, i, where(done_0, all(1.0), all(0.0)));",
        ),
    ]
    yield from (f"    {line}" for line in end)
    yield "  }"


_PER_VECTOR = "u|active|done|settled|start|last|before|count|norm|near|met|quick|moved|size|strict|loose"
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


def _factor(name: str) -> str:
    return name if name.isidentifier() or name.endswith((")", "]")) else f"({name})"
