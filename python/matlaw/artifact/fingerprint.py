"""What a build depends on, as one digest: a build whose digest is on disk already need not be repeated."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any

from matlaw.artifact.cpu import cpu_features
from matlaw.artifact.request import Request, cuda_capability
from matlaw.lower.native.compiler import compiler_version
from matlaw.version import __version__

#: Rooms whose code decides what an artifact holds.
_ROOMS = ("tensors", "models", "input", "trace", "ir", "lower", "artifact")


@lru_cache
def code_digest(rooms: tuple[str, ...] = _ROOMS) -> str:
    """Digest of the code of matlaw itself.

    :param rooms: folders of the package
    """
    package = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for room in rooms:
        for file in sorted((package / room).rglob("*")):
            if file.suffix in (".py", ".h"):
                digest.update(file.relative_to(package).as_posix().encode())
                digest.update(file.read_bytes())
    return digest.hexdigest()


def fingerprint(request: Request, text: str, torch_version: str, parameters: Mapping[str, Any]) -> str:
    """Digest of the input text, the options, and the versions of everything that takes part.

    :param request: what was asked for
    :param text: the input file with includes merged and overrides applied
    :param torch_version: of the torch that compiles
    :param parameters: typed values by name: those of weights come from files that the text names
    """
    options = asdict(request)
    options["path"] = request.path.name
    options["cpu_target"] = request.cpu_targets
    options["device"] = options["dtype"] = [leaf.folder for leaf in request.leaves]
    if any(leaf.device == "cuda" for leaf in request.leaves):
        options["cuda_capability"] = cuda_capability()
    if "native" in request.cpu_targets:
        options["cpu_features"] = cpu_features()
    options["extensions"] = [_extension_digest(name) for name in request.extensions]
    values = hashlib.sha256(b"".join(p.data.contiguous().numpy().tobytes() for p in parameters.values())).hexdigest()
    parts = [__version__, torch_version, compiler_version(), code_digest(), options, text, values]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _extension_digest(name: str) -> str:
    path = Path(name)
    files = sorted(path.rglob("*.py")) if path.is_dir() else [path] if path.is_file() else []
    return hashlib.sha256(b"".join(file.read_bytes() for file in files) or name.encode()).hexdigest()
