"""The pytest plugin for MOOSE's `tests` files: finds their entries and the hosts that can run each.

A test with the arguments ``spec`` and ``host`` is made for every entry and every host that is for its input; hosts that
are not installed skip. One with ``spec`` alone is made for every entry.
"""

from __future__ import annotations

from functools import cache

import pytest
from hosts import HOSTS, Runs
from places import TESTS
from specs import Spec, discover

from matlaw.errors import InputFileError
from matlaw.fe.input.tree import Block, read_input


@cache
def entries() -> list[Spec]:
    """All entries."""
    return discover(TESTS)


@cache
def input_of(spec: Spec) -> Block | None:
    """The input of an entry; None where it cannot be read, as that of an entry about just that."""
    try:
        return read_input(list(spec.inputs))
    except InputFileError:
        return None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make tests of entries and hosts."""
    if "spec" not in metafunc.fixturenames:
        return
    if "host" not in metafunc.fixturenames:
        metafunc.parametrize("spec", entries(), ids=lambda spec: spec.label)
        return
    parameters = []
    for spec in entries():
        root = input_of(spec)
        for host in HOSTS:
            if (root is not None and not host.runs(root)) or 0 < spec.max_parallel < host.ranks:
                continue
            absent = pytest.mark.skipif(not host.present(), reason=f"{host.name} is not installed")
            skipped = pytest.mark.skipif(bool(spec.skip), reason=spec.skip or "runs")
            parameters.append(pytest.param(spec, host, id=f"{spec.label}-{host.name}", marks=[absent, skipped]))
    metafunc.parametrize(("spec", "host"), parameters)


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """The runs of this session."""
    known = {(spec.folder, spec.name): spec for spec in entries()}
    return Runs(tmp_path_factory.mktemp("specs"), known)
