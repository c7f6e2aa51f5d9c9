"""What is said of a parameter that a law does not have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from matlaw.input.suggestion import unknown_name
from matlaw.models import ParameterSlot

_MOST: Final = 3


def unknown_parameter(name: str, slots: Mapping[str, ParameterSlot]) -> str:
    """Says that the name is not known, and which parameters may be meant.

    Their names have the models around them in front, and some are not called like their option in the input file.
    """
    meant = _meant(name, slots)
    if not meant:
        return unknown_name("parameter", name, slots)
    listed = " or ".join(f"'{found}'" + (f" ({slots[found].origin})" if slots[found].origin else "") for found in meant)
    return (
        f"unknown parameter '{name}'; did you mean {listed}? matlaw-inspect FILE MODEL lists all {len(slots)} "
        "and the options that give them"
    )


def _meant(name: str, slots: Mapping[str, ParameterSlot]) -> list[str]:
    """Parameters of this model and name, else of this name; block and option of the input file count as names, too."""
    block, _, own = name.rpartition(".")
    block = block.rpartition(".")[2]
    both, one = [], []
    for found, slot in slots.items():
        path, _, symbol = found.rpartition(".")
        _, section_block, option = slot.origin.split("/") if slot.origin.count("/") == 2 else ("", "", "")
        of_model = block != "" and block in (path.rpartition(".")[2], section_block)
        of_parameter = own in (symbol, option)
        if of_model and of_parameter:
            both.append(found)
        elif of_parameter:
            one.append(found)
    return (both or one)[:_MOST]
