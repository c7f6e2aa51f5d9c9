"""Which vector instructions Inductor writes code for: those of the CPU target, whatever this machine has."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

#: By CPU target, in Inductor's words.
_SETS = {"x86-64-v2": [], "x86-64-v3": ["avx2"], "x86-64-v4": ["avx512"]}


@contextmanager
def instruction_sets(cpu_target: str) -> Iterator[None]:
    """Let Inductor know of no others.

    Left alone it tries every extension that this machine has, by a compile and the load of the result in a process of
    its own: more than a second for each process that compiles.

    :param cpu_target: ``-march`` of the C++ compiler; with ``native`` this machine decides
    """
    from torch._inductor import cpu_vec_isa

    known = _SETS.get(cpu_target)
    if known is None:
        yield
        return
    with patch.object(cpu_vec_isa, "x86_isa_checker", lambda: known):
        cpu_vec_isa.valid_vec_isa_list.cache_clear()
        try:
            yield
        finally:
            cpu_vec_isa.valid_vec_isa_list.cache_clear()
