"""One log for C++ and Python."""

from __future__ import annotations

import doctest
import logging
import os
import subprocess
import sys
import threading

import pytest

from matlaw import FatalError, logs


@pytest.fixture(autouse=True)
def as_found():
    before = ",".join(f"{channel}={level}" for channel, level in logs.levels().items())
    yield
    logs.set_sink(None)
    logs.set_levels(before)


def test_channels_and_levels_are_those_of_the_cpp_part():
    assert tuple(logs.levels()) == logs.CHANNELS
    for level in logs.LEVELS:
        logs.set_levels(f"all={level}")
        assert set(logs.levels().values()) == {level}


def test_unknown_names_are_refused_with_the_list_of_what_there_is():
    with pytest.raises(FatalError, match=r"'newtn'; there are 'load', 'newton'.* Did you mean 'newton'"):
        logs.set_levels("newtn=debug")
    with pytest.raises(FatalError, match="level 'loud'"):
        logs.log("load", "loud", "text")


def test_the_examples_hold():
    assert doctest.testmod(logs).failed == 0


def test_python_logging(caplog):
    logs.use_python_logging()
    logs.set_levels("compile=info")
    with caplog.at_level(logging.DEBUG, logger="matlaw"):
        logs.log("compile", "info", "100 % done")
        logs.log("compile", "debug", "held back")
    assert [(r.name, r.levelname, r.getMessage()) for r in caplog.records] == [("matlaw.compile", "INFO", "100 % done")]


def test_a_sink_is_called_from_any_thread():
    said = []
    logs.set_sink(lambda *entry: said.append(entry))
    threads = [threading.Thread(target=logs.log, args=("host", "warn", "step")) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert said == [("host", "warn", "step")] * 4


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("load=info", "matlaw [load] text\n"),
        ("", ""),
        (
            "loud=info,load=info,newton=9",
            "matlaw: MATLAW_LOGS: There is no log channel 'loud'; there are 'load', 'newton', 'substep', 'dispatch', "
            "'compile', 'host'. Did you mean 'load'?\n"
            "matlaw: MATLAW_LOGS: There is no log level '9'; there are 'off', 'error', 'warn', 'info', 'debug'.\n"
            "matlaw [load] text\n",
        ),
    ],
)
def test_the_environment_sets_the_levels(setting, said):
    code = "from matlaw import logs; logs.log('load', 'info', 'text')"
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "MATLAW_LOGS": setting}, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert done.stderr == said
