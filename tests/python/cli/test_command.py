"""A wrong input and Ctrl-C end a command with one line."""

from __future__ import annotations

import gc
import weakref

import pytest

from matlaw.cli.command import INTERRUPTED, command
from matlaw.errors import FatalError


def test_interrupted(capsys: pytest.CaptureFixture[str]) -> None:
    @command("matlaw-x", "nothing is written")
    def main(arguments=None):
        raise KeyboardInterrupt

    assert main([]) == INTERRUPTED == 130
    assert capsys.readouterr().err == "matlaw-x: interrupted; nothing is written\n"


def test_a_wrong_input(capsys: pytest.CaptureFixture[str]) -> None:
    @command("matlaw-x", "nothing is written")
    def main(arguments=None):
        raise FatalError("there is no such law")

    assert main([]) == 2
    assert capsys.readouterr().err == "matlaw-x: error: there is no such law\n"


def test_not_interrupted() -> None:
    @command("matlaw-x", "nothing is written")
    def main(arguments=None):
        return len(arguments)

    assert main(["a", "b"]) == 2


def test_nothing_is_left_of_the_frames_that_were_interrupted() -> None:
    alive: list[weakref.ref[Node]] = []

    @command("matlaw-x", "nothing is written")
    def main(arguments=None):
        node = Node()
        node.itself = node
        alive.append(weakref.ref(node))
        raise KeyboardInterrupt

    gc.disable()
    try:
        main([])
        assert alive[0]() is None
    finally:
        gc.enable()


class Node:
    """Something that refers to itself, as what a tree of nodes is held by does."""

    itself: Node
