"""What a compiled law says of itself."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from matlaw.errors import FatalError

_SEAL = re.compile(rb'("metadata_sha256"\s*:\s*")([0-9a-f]{64})(")')


class DamagedArtifactError(FatalError):
    """The metadata of a compiled law is there, but cannot be read."""


def describe_artifact(folder: Path) -> dict[str, Any]:
    """The description of an artifact folder, after its metadata and the sizes and digests of its files were checked.

    ``problems`` lists what is wrong with it; it is empty for an artifact that can be loaded.

    :param folder: the artifact folder
    :raises DamagedArtifactError: its metadata.json is not that of a compiled law, or is not there
    """
    path = folder / "metadata.json"
    if path.exists() and not path.is_file():  # a pipe would be waited for
        raise DamagedArtifactError(f"{path}: is no regular file; compile the law again")
    try:
        content = path.read_bytes()
        metadata = json.loads(content)
    except OSError as error:
        raise DamagedArtifactError(f"{path}: cannot be read: {error}") from error
    except ValueError as error:
        raise DamagedArtifactError(f"{path}: not JSON: {error}; compile the law again") from error
    if not isinstance(metadata, dict) or "schema_version" not in metadata:
        raise DamagedArtifactError(f"{path}: not the metadata of a compiled law; schema_version is missing")
    try:
        return _description(folder, content, metadata)
    except (AttributeError, KeyError, TypeError) as error:
        raise DamagedArtifactError(f"{path}: an entry is not what it should be ({error}); compile it again") from error


def _description(folder: Path, content: bytes, metadata: dict[str, Any]) -> dict[str, Any]:
    files = metadata.get("files", {})
    return {
        "kind": "artifact",
        "path": str(folder),
        "name": metadata.get("name", ""),
        "schema_version": metadata["schema_version"],
        "matlaw_version": metadata.get("matlaw_version", ""),
        "torch_version": metadata.get("torch_version", ""),
        "source": {k: v for k, v in metadata.get("source", {}).items() if k != "text"},
        "inputs": metadata.get("inputs", []),
        "outputs": metadata.get("outputs", []),
        "parameters": metadata.get("parameters", []),
        "derivatives": metadata.get("derivatives", []),
        "state_pairs": metadata.get("state_pairs", []),
        "times": metadata.get("times", []),
        "solver_config": metadata.get("solver_config"),
        "segments": [_segment(s) for s in metadata.get("segments", [])],
        "builds": metadata.get("builds", {}),
        "files": {name: entry.get("bytes", 0) for name, entry in files.items()},
        "bytes": sum(entry.get("bytes", 0) for entry in files.values()),
        "verification": metadata.get("verification", {}),
        "problems": _problems(folder, content, files),
    }


def _segment(entry: dict[str, Any]) -> dict[str, Any]:
    kept = ("kind", "inputs", "outputs", "parameters", "size", "unknowns", "givens")
    found = {key: entry[key] for key in kept if key in entry}
    found["graphs"] = {kind: graph.get("stem", "") for kind, graph in entry.get("graphs", {}).items()}
    return found


def _problems(folder: Path, content: bytes, files: dict[str, Any]) -> list[str]:
    """What a loader would refuse."""
    found = []
    seal = _SEAL.search(content)
    if seal is None:
        found.append("metadata.json has no seal (metadata_sha256)")
    else:
        zeroed = content[: seal.start(2)] + b"0" * 64 + content[seal.end(2) :]
        if hashlib.sha256(zeroed).hexdigest().encode() != seal[2]:
            found.append("metadata.json was edited after it was written: its seal does not fit")
    for name, entry in files.items():
        place = folder / name
        if not place.is_file():
            found.append(f"{name} is missing")
        elif hashlib.sha256(place.read_bytes()).hexdigest() != entry.get("sha256"):
            found.append(f"{name} was changed or cut off: its digest does not fit")
    return found
