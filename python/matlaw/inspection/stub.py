"""Compiled models that an input file refers to."""

from __future__ import annotations

from pathlib import Path

import nmhit

from matlaw.errors import InputFileError


def artifacts_of(path: Path) -> dict[str, Path]:
    """Folder of every model of type AOTIModel in an input file, by its name.

    :raises InputFileError: the file cannot be parsed
    """
    try:
        root = nmhit.parse_file(path)
    except nmhit.Error as error:
        lines = dict.fromkeys(f"{m.filename}:{m.line}: {m.message}" for m in error.messages)
        raise InputFileError("; ".join(lines) or str(error)) from error
    except (OSError, RuntimeError) as error:
        raise InputFileError(f"{path}: cannot be read: {error}") from error
    found = {}
    for section in root.children(nmhit.NodeType.Section):
        if section.path() != "Models":
            continue
        for block in section.children(nmhit.NodeType.Section):
            if block.param_optional_str("type", "") == "AOTIModel":
                place = block.param_optional_str("artifact_path", "")
                found[block.path()] = Path(str(block.filename)).parent / place
    return found
