"""Requests to stop pass through C++ as what they are."""

from __future__ import annotations

import signal

import numpy as np
import pytest
from maxwell import Maxwell

import matlaw


class Stopped(Maxwell):
    """A law during whose evaluation something happens."""

    def __init__(self, happens) -> None:
        super().__init__()
        self.happens = happens

    def evaluate(self, inputs, jacobian=False):
        self.happens()
        return super().evaluate(inputs, jacobian)


@pytest.fixture(autouse=True)
def interrupts():
    """A shell starts its background jobs with interrupts ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def leave():
    raise SystemExit(3)


def fail():
    raise ValueError("two\nlines")


@pytest.mark.parametrize(
    ("happens", "raised"),
    [(lambda: signal.raise_signal(signal.SIGINT), KeyboardInterrupt), (leave, SystemExit), (fail, matlaw.FatalError)],
    ids=["ctrl-c", "exit", "error"],
)
def test_what_stops_an_evaluation(happens, raised):
    law = Stopped(happens)
    batch = matlaw.QuadratureBatch(law, 2)
    for name in batch.input_names:
        batch.set_input(name, np.zeros((2, *batch.shape(name))))
    with pytest.raises(raised) as caught:
        batch.evaluate()
    if raised is matlaw.FatalError:
        assert "ValueError: two lines (" in str(caught.value)
        assert "\n" not in str(caught.value)
    law.happens = lambda: None
    assert batch.evaluate().ok
