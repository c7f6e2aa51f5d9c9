"""What the other program needs that matlaw does not: other names in an input file."""

from __future__ import annotations

import re
from pathlib import Path


def without_python_keywords(source: Path, folder: Path) -> Path:
    """A copy of an input file without blocks called ``yield``, which neml2 3.1.0 refuses."""
    lines = []
    listing = False
    for line in source.read_text(encoding="utf-8").splitlines():
        listing = listing or re.match(r"\s*(models|function|a)\s*=", line) is not None
        if listing or line.strip() == "[yield]":
            line = re.sub(r"\byield\b", "yield_function", line)
        listing = listing and line.count("'") % 2 == (1 if "=" in line else 0)
        lines.append(line)
    copy = folder / source.name
    copy.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return copy
