"""Which derivatives the tangent of a chain of substeps needs besides those that a caller asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from matlaw.state_pair import StatePair


def moving_sources(
    wanted: Iterable[str], pairs: Sequence[StatePair], depends: Callable[[str, str], bool]
) -> tuple[list[str], list[str]]:
    """Inputs by which derivatives are needed over a substep, and outputs of which they are.

    Over a substep a force is between its old and its new value, so it depends on both, and so does its old value; an
    old state is the state that the substep before ended with.

    :param wanted: inputs that are seeds
    :param pairs: what is carried from one substep to the next
    :param depends: whether an output depends on an input or a parameter
    :returns: the inputs, and those state variables among the outputs whose old values are among them
    """
    sources = set(wanted)
    forces = [pair for pair in pairs if pair.role == "force"]
    states = [pair for pair in pairs if pair.role == "state"]
    while True:
        before = len(sources)
        for pair in forces:
            if pair.current in sources:
                sources.add(pair.old)
            elif pair.old in sources and not _is_old(pair.current, pairs):
                sources.add(pair.current)
        sources |= {pair.old for pair in states if any(depends(pair.current, source) for source in sources)}
        if len(sources) == before:
            break
    return sorted(sources), [pair.current for pair in states if pair.old in sources]


def _is_old(name: str, pairs: Sequence[StatePair]) -> bool:
    return any(pair.old == name for pair in pairs)
