"""What the log channels of dispatch and hosts say."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from matlaw import load_model, logs
from matlaw.dispatch import SimpleScheduler
from matlaw.dispatch import load_model as load_dispatched
from matlaw.host import QuadratureBatch


@pytest.fixture
def said() -> Iterator[list[tuple[str, str, str]]]:
    """What is logged, with every channel at its loudest."""
    texts: list[tuple[str, str, str]] = []
    before = logs.levels()
    logs.set_levels("all=debug")
    logs.set_sink(lambda channel, level, text: texts.append((channel, level, text)))
    yield texts
    logs.set_sink(None)
    logs.set_levels(",".join(f"{channel}={level}" for channel, level in before.items()))


def of(said: list[tuple[str, str, str]], channel: str, level: str) -> str:
    return "\n".join(text for c, at, text in said if (c, at) == (channel, level))


def test_dispatch_says_devices_and_chunks(artifact, said):
    law = load_dispatched(artifact("linear_elastic-native") / "model_aoti.i", "model", SimpleScheduler("cpu", 16))
    assert "cpu (chunks of 16 rows, holds 32 rows, priority 1)" in of(said, "dispatch", "info")
    law.forward({"strain": np.zeros((40, 6))})
    chunks = of(said, "dispatch", "debug")
    for rows in ("rows 0 to 15 on cpu", "rows 16 to 31 on cpu", "rows 32 to 39 on cpu"):
        assert rows in chunks
    assert " ms." in chunks


def test_a_batch_says_what_becomes_of_its_points(artifact, said):
    law = load_model(artifact("j2_viscoplastic-native") / "model_aoti.i", "model")
    batch = QuadratureBatch(law, 5)
    assert "5 points, hypothesis 3d" in of(said, "host", "info")
    strain = np.zeros((5, 6))
    batch.set_input("strain", strain)
    batch.set_input("t", 1.0)
    batch.evaluate(tangent=True)
    assert "evaluated with tangents 5 of 5 points; suggested factor of the time step 1" in of(said, "host", "debug")
    batch.commit()
    assert "the step is committed" in of(said, "host", "debug")
    strain[3] = 1e200
    batch.set_input("strain", strain)
    batch.set_input("t", 2.0)
    batch.evaluate()
    assert "of which 1 failed (3)" in of(said, "host", "info")
    batch.revert()
    assert "back at the last committed step" in of(said, "host", "info")
    batch.restore(batch.save())
    assert "restored from saved bytes" in of(said, "host", "info")
    batch.resize(7)
    assert "5 points became 7, of which 2 start afresh" in of(said, "host", "info")
