"""Where compiled laws are: those that an input file refers to, and those in a folder."""

from __future__ import annotations

from pathlib import Path

import nmhit

from matlaw.errors import FatalError
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


def is_artifact(folder: Path) -> bool:
    """True for a folder with a metadata.json, whatever that holds."""
    return (folder / "metadata.json").exists()


def artifacts_in(folder: Path) -> dict[str, Path]:
    """Artifact folders in a folder, such as matlaw-compile's --output-dir, by name.

    :raises FatalError: there are none
    """
    inside = {place.name: place for place in sorted(folder.iterdir()) if is_artifact(place)}
    if not inside:
        raise FatalError(
            f"{folder} is a folder without metadata.json, so it is no compiled law; "
            "pass the folder that matlaw-compile wrote, its stub, or an input file"
        )
    return inside


def artifact_folder(folder: Path, name: str = "") -> Path:
    """The artifact folder that is meant by a folder: itself, or one of those in it.

    The C++ loader does the same, but cannot be had without torch.

    :param folder: an existing folder
    :param name: of the law; may be left out where there is one only
    :raises FatalError: there is none, none of this name, or several
    """
    if is_artifact(folder):
        return folder
    inside = artifacts_in(folder)
    there = ", ".join(f"'{place}'" for place in inside)
    if not name and len(inside) > 1:
        raise FatalError(f"'{folder}' holds several artifacts ({there}): give the name of one.")
    chosen = name or next(iter(inside))
    if chosen not in inside:
        raise FatalError(f"'{folder}' has no artifact '{name}'; it has {there}.")
    return inside[chosen]
