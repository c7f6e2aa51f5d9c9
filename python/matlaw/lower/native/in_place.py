"""The second entry of small kernels, which reads and writes rows where the caller has them."""

from __future__ import annotations

from typing import Final

from matlaw.ir.program import Program, reachable

#: A larger kernel takes so long itself that copying its arguments does not matter.
MOST_STATEMENTS: Final = 1000
#: Components of all arguments together, which are in registers or on the stack.
_MOST_COMPONENTS: Final = 256


def has_in_place(program: Program) -> bool:
    """True for a program that is small enough, and has neither loops over sites nor weights."""
    slots = (*program.inputs, *program.outputs)
    return (
        program.sites == 1
        and not program.products
        and program.statement_count <= MOST_STATEMENTS
        and sum(slot.size for slot in slots) <= _MOST_COMPONENTS
        and not any(slot.shared for slot in program.inputs)
        and not any(v.op == "dot" for v in reachable(program.roots))
    )


def function_of_statements(program: Program, body: str) -> str:
    """The statements as a function that both entries call: ``Real`` is ``real`` in arrays, ``rows`` in registers."""
    arguments = [
        *(f"const Real * const x{k}" for k in range(len(program.inputs))),
        *(f"Real * const __restrict__ y{k}" for k in range(len(program.outputs))),
    ]
    return f"""template <typename Real>
MATLAW_INLINE void evaluate({", ".join(arguments)}, int64_t ld, int64_t i)
{{
{body}
}}

"""


def call_of_statements(program: Program) -> str:
    """The call on arrays."""
    return f"    evaluate({_names(program)}, ld, i);"


def in_place_entry(program: Program) -> str:
    """The definition of ``matlaw_in_place``, see ``native::InPlaceFunction`` of the runtime."""
    sizes_in = [slot.size for slot in program.inputs]
    sizes_out = [slot.size for slot in program.outputs]
    lines = [f"rows x{k}[{n}];" for k, n in enumerate(sizes_in)]
    lines += [f"rows y{k}[{n}];" for k, n in enumerate(sizes_out)]
    lines += [f"read_rows<{n}>(inputs[{k}], i, x{k}, check);" for k, n in enumerate(sizes_in)]
    lines += [f"evaluate<rows>({_names(program)}, 1, 0);"]
    lines += [f"write_rows<{n}>(outputs[{k}], i, y{k}, check);" for k, n in enumerate(sizes_out)]
    body = "\n".join(f"    {line}" for line in lines)
    return f"""
MATLAW_EXPORT int32_t matlaw_in_place(const place * inputs, const place * outputs, int64_t n)
{{
  rows check = all(0.0);
  for (int64_t i = 0; i < n; i += MATLAW_LANES)
  {{
{body}
  }}
  return is_sound(check);
}}
"""


def _names(program: Program) -> str:
    pointers = [*(f"x{k}" for k in range(len(program.inputs))), *(f"y{k}" for k in range(len(program.outputs)))]
    return ", ".join(pointers)
