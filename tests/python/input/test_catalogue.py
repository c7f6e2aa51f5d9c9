"""Every registered type has exactly the options of the catalogue: the records of ``neml2-syntax --json``, neml2 3.1.0."""

import json
from pathlib import Path

import pytest

from matlaw.input import SECTIONS, registered
from matlaw.models import declarations

RECORDS = json.loads(Path(__file__).with_name("catalogue.json").read_text())
CATALOGUE = {(r["section"], r["type"]): r["options"] for r in RECORDS}
TYPES = [
    (section, name)
    for section in SECTIONS
    for name, cls in registered(section).items()
    if cls.__module__.startswith("matlaw.")
]


@pytest.mark.parametrize(("section", "name"), TYPES, ids="/".join)
def test_options(section, name):
    expected = {option["name"]: option for option in CATALOGUE[section, name]}
    found = {d.option: d.record() for d in declarations(registered(section)[name])}
    assert found == expected


def test_all_types_of_the_records_are_registered():
    assert set(CATALOGUE) == set(TYPES)
