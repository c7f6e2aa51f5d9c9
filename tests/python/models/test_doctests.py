"""The examples in docstrings."""

import doctest
import importlib
import pkgutil

import pytest

PACKAGES = ("tensors", "models", "input", "eager")


def modules():
    for name in PACKAGES:
        package = importlib.import_module(f"matlaw.{name}")
        yield package.__name__
        yield from (m.name for m in pkgutil.walk_packages(package.__path__, f"{package.__name__}."))


@pytest.mark.parametrize("name", list(modules()))
def test_examples(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0
