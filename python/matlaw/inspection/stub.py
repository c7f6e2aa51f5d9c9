"""Compiled models that an input file refers to."""

from __future__ import annotations

from pathlib import Path

import nmhit

from matlaw.hit import parse_file


def artifacts_of(path: Path) -> dict[str, Path]:
    """Folder of every model of type AOTIModel in an input file, by its name.

    :raises InputFileError: the file cannot be parsed
    """
    found = {}
    for section in parse_file(path).children(nmhit.NodeType.Section):
        if section.path() != "Models":
            continue
        for block in section.children(nmhit.NodeType.Section):
            if block.param_optional_str("type", "") == "AOTIModel":
                place = block.param_optional_str("artifact_path", "")
                found[block.path()] = Path(str(block.filename)).parent / place
    return found
