"""What this machine's CPU runs."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Final

_INSTRUCTION_SETS: Final = frozenset(
    ("pni", "ssse3", "fma", "f16c", "bmi1", "bmi2", "movbe", "popcnt", "cx16", "lahf_lm", "abm", "adx", "aes", "vaes",
     "pclmulqdq", "vpclmulqdq", "gfni", "sha_ni", "rdrnd", "rdrand", "rdseed", "fsgsbase", "xsave", "xsaveopt",
     "xsavec", "clflushopt", "clwb", "prefetchw", "3dnowprefetch", "mwaitx", "clzero", "wbnoinvd", "rdpid", "pku")
)  # fmt: skip

_V2: Final = ("cx16", "lahf_lm", "popcnt", "pni", "sse4_1", "sse4_2", "ssse3")
_V3: Final = (*_V2, "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe")
#: What the levels of the x86-64 psABI need, by the names of /proc/cpuinfo.
_LEVELS: Final = {
    "x86-64-v2": _V2,
    "x86-64-v3": _V3,
    "x86-64-v4": (*_V3, "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"),
}


@lru_cache
def cpu_features() -> tuple[str, ...]:
    """Instruction sets of this machine's CPU, by their names in /proc/cpuinfo, without flags of the kernel's."""
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    line = next((line for line in text.splitlines() if line.startswith("flags")), "flags :")
    flags = line.partition(":")[2].split()
    return tuple(sorted(f for f in flags if f in _INSTRUCTION_SETS or f.startswith(("avx", "sse"))))


def runs_here(target: str) -> bool:
    """True when this machine runs code for a CPU target.

    >>> runs_here("native")
    True
    """
    return set(_LEVELS.get(target, ())) <= set(cpu_features())
