"""What every generated graph includes first; precompiled where many graphs are compiled one after the other.

Reading these headers takes most of the compile of a small graph. Precompiling them takes as long as reading them
three times.

Two of their parts are in the compiled interface, and no graph compiles them again: the class that its model derives
from, and the regular expression that reads the name of a device, which alone took as long as all else of a small graph.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

#: From so many graphs on precompiled headers are worth their own time.
WORTHWHILE: Final = 5
_HEADERS: Final = """\
#include <regex>
#include <string>
namespace std {
struct declared_regex { declared_regex(const char*); };
bool regex_match(const string&, smatch&, const declared_regex&);
}
#define regex declared_regex
#include <torch/csrc/inductor/aoti_include/cpu.h>
#undef regex
namespace torch::aot_inductor { extern template class AOTInductorModelBase<AOTInductorModel>; }
#include <torch/csrc/inductor/cpp_prefix.h>
"""


def including(compiler: str, options: Sequence[str], folder: Path, shared: Path | None) -> list[str]:
    """Options that include the headers; the code of a graph is the same, precompiled or not.

    :param compiler: that compiles a graph
    :param options: all its other options
    :param folder: of this graph
    :param shared: where many graphs, of several processes, find precompiled headers; ``None``: they are not worthwhile
    """
    if shared is None:
        (folder / "common.h").write_text(_HEADERS, encoding="utf-8")
        return ["-include", str(folder / "common.h")]
    place = shared / hashlib.sha256(repr([compiler, *options]).encode()).hexdigest()[:16]
    place.mkdir(parents=True, exist_ok=True)
    header, made = place / "common.h", place / "common.h.gch"
    with (place / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:  # another process is at it; this graph goes on without
            return including(compiler, options, folder, None)
        if not header.exists():
            header.write_text(_HEADERS, encoding="utf-8")
            partial = place / "partial"
            command = [compiler, *options, "-w", "-x", "c++-header", str(header), "-o", str(partial)]
            # A failure does no harm: the header itself is read.
            if subprocess.run(command, capture_output=True, check=False).returncode == 0:
                os.replace(partial, made)
    return ["-include", str(header)]
