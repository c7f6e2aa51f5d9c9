"""Ctrl-C ends a command with one line."""

import pytest

from matlaw.cli.interrupt import INTERRUPTED, interruptible


def test_interrupted(capsys: pytest.CaptureFixture[str]) -> None:
    @interruptible("matlaw-x", "nothing is written")
    def main(arguments=None):
        raise KeyboardInterrupt

    assert main([]) == INTERRUPTED == 130
    assert capsys.readouterr().err == "matlaw-x: interrupted; nothing is written\n"


def test_not_interrupted() -> None:
    @interruptible("matlaw-x", "nothing is written")
    def main(arguments=None):
        return len(arguments)

    assert main(["a", "b"]) == 2
