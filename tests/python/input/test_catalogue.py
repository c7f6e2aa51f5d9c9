"""Every registered type has exactly the options that ``neml2-syntax --json`` of neml2 3.1.0 lists."""

import json
from pathlib import Path

import pytest

import matlaw.drivers
from matlaw.input import SECTIONS, registered
from matlaw.models import declarations

RECORDS = json.loads(Path(__file__).parents[2].joinpath("data", "material_catalog.json").read_text())
CATALOGUE = {(r["section"], r["type"]): r["options"] for r in RECORDS}
#: Types of this program alone.
OWN = {("Drivers", "ModelUnitTest"), ("Models", "TorchModule")}
TYPES = [
    (section, name)
    for section in SECTIONS
    for name, cls in registered(section).items()
    if cls.__module__.startswith("matlaw.")
]


@pytest.mark.parametrize(
    ("section", "name"), [t for t in TYPES if t not in OWN], ids=["/".join(t) for t in TYPES if t not in OWN]
)
def test_options(section, name):
    expected = {option["name"]: option for option in CATALOGUE[section, name]}
    found = {d.option: d.record() for d in declarations(registered(section)[name])}
    assert found == expected


def test_the_drivers_are_registered():
    assert set(registered("Drivers")) == {t for s, t in CATALOGUE if s == "Drivers"} | {"ModelUnitTest"}
    assert matlaw.drivers.__doc__
