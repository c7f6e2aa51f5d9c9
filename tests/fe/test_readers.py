"""The two readers of MOOSE's HIT dialect give the same tree."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from places import ROOT, TESTS

from matlaw.errors import InputFileError
from matlaw.fe.input.dialect import with_includes
from matlaw.fe.input.readers import CHOICE, NmhitReader, PyhitReader, Reader, find_pyhit, reader
from matlaw.fe.input.substitution import substitute
from matlaw.fe.input.tree import Block, read_input

DIALECT = """# A comment
top = 3 # trailing
name = 'left right'   # after a quoted value
[Mesh] # of a block
  [./box]
    type = GeneratedMeshGenerator
    nx = ${top}
    ny = ${fparse 2 * top + 1}
    bias = 1e-3
    text = "[./not] [../] # no comment"
    numbers = '1 2
               3'
    empty = ''
  [../]
  [inner]
    [deep]
      a = ${Mesh/unused}
    []
  []
[]
[Physics/SolidMechanics/QuasiStatic]
  [all]
    strain = SMALL
  []
[]
[BCs/side]
  value = 2
[]
!include part.i
[Mesh]
  more = ${raw 4 2}
[]
"""
PART = "[Functions]\n  [f]\n    expression = 't # not'  # but this\n  []\n[]\n"
INPUTS = sorted([*TESTS.rglob("*.i"), *(ROOT / "examples" / "fe").glob("*.i")])


def plain(block: Block) -> dict[str, object]:
    """Names and values of a tree."""
    return {
        **{name: item.value for name, item in block.fields.items()},
        **{name: plain(below) for name, below in block.blocks.items()},
    }


def places(block: Block) -> dict[str, str]:
    """Where the fields of a tree stand."""
    own = {f"{block.path}/{name}": item.location for name, item in block.fields.items()}
    for below in block.blocks.values():
        own |= places(below)
    return own


def parse(reader: Reader, path: Path) -> Block:
    text, lines = with_includes(path.read_text(), path)
    return reader.parse(text, path, lines)


@pytest.fixture
def dialect(tmp_path: Path) -> Path:
    """A file with all that is spelled differently."""
    (tmp_path / "part.i").write_text(PART)
    path = tmp_path / "dialect.i"
    path.write_text(DIALECT.replace("      a = ${Mesh/unused}\n", ""))
    return path


EXPECTED = {
    "top": "3",
    "name": "left right",
    "Mesh": {
        "box": {
            **{"type": "GeneratedMeshGenerator", "nx": "3", "ny": "7.0", "bias": "1e-3"},
            **{"text": "[./not] [../] # no comment", "empty": ""},
        },
        "inner": {"deep": {}},
        "more": "42",
    },
    "Physics": {"SolidMechanics": {"QuasiStatic": {"all": {"strain": "SMALL"}}}},
    "BCs": {"side": {"value": "2"}},
    "Functions": {"f": {"expression": "t # not"}},
}


def check_dialect(tree: Block, path: Path) -> None:
    substitute(tree)
    box = tree.blocks["Mesh"].blocks["box"].fields
    assert box.pop("numbers").value.split() == ["1", "2", "3"]
    assert plain(tree) == EXPECTED
    assert box["nx"].location == f"{path}:7"
    included = tree.blocks["Functions"].blocks["f"].fields["expression"].location
    assert (Path(included).name, Path(included).parent.resolve()) == ("part.i:3", path.parent.resolve())


def test_nmhit_reads_the_dialect(dialect: Path) -> None:
    check_dialect(parse(NmhitReader(), dialect), dialect)


pyhit = find_pyhit()
needs_pyhit = pytest.mark.skipif(pyhit is None, reason="pyhit is not installed; it comes with MOOSE")


@needs_pyhit
def test_pyhit_reads_the_dialect(dialect: Path) -> None:
    check_dialect(parse(PyhitReader(pyhit), dialect), dialect)


@needs_pyhit
@pytest.mark.parametrize("path", INPUTS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_both_give_the_same_tree(path: Path) -> None:
    ours, theirs = parse(NmhitReader(), path), parse(PyhitReader(pyhit), path)
    assert plain(ours) == plain(theirs)
    assert places(ours) == places(theirs)


class Fake:
    """A module with the calls of MOOSE's parser that the reader uses, on a tree given as nested lists."""

    NodeType = SimpleNamespace(Section="Section", Field="Field")

    def __init__(self, tree: list[tuple[str, object, int]]) -> None:
        self._tree = tree

    def parse(self, name: str, text: str) -> object:
        if "broken" in text:
            raise RuntimeError(f"{name}:1: syntax error")
        return self._node("", self._tree, 0)

    def explode(self, root: object) -> None:
        pass

    def _node(self, path: str, content: object, line: int) -> object:
        section = isinstance(content, list)
        return SimpleNamespace(
            path=lambda: path,
            line=lambda: line,
            type=lambda: "Section" if section else "Field",
            raw=lambda: content,
            children=lambda: [self._node(*child) for child in content] if isinstance(content, list) else [],
        )


def test_the_tree_of_pyhit_without_pyhit(tmp_path: Path) -> None:
    path, text = tmp_path / "a.i", "\n" * 8
    hit = Fake([("top", "'1 2'", 1), ("A", [("b", [("c", "3", 3)], 2)], 2), ("A", [("d", "x", 7)], 6)])
    tree = PyhitReader(hit).parse(text, path, [(path, k + 1) for k in range(8)])
    assert plain(tree) == {"top": "1 2", "A": {"b": {"c": "3"}, "d": "x"}}
    assert tree.blocks["A"].blocks["b"].fields["c"].location == f"{path}:3"
    with pytest.raises(InputFileError, match=r"a\.i:1: syntax error"):
        PyhitReader(hit).parse("broken", path, [])
    with pytest.raises(InputFileError, match=r"a\.i:2: duplicate field 'x'; the first is at .*a\.i:1"):
        PyhitReader(Fake([("x", "1", 1), ("x", "2", 2)])).parse(text, path, [(path, k + 1) for k in range(8)])


def test_the_reader_can_be_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CHOICE, "nmhit")
    assert reader().name == "nmhit"
    monkeypatch.setenv(CHOICE, "other")
    with pytest.raises(InputFileError, match="expected pyhit or nmhit"):
        reader()
    monkeypatch.setattr("matlaw.fe.input.readers.find_pyhit", lambda: None)
    monkeypatch.setenv(CHOICE, "pyhit")
    with pytest.raises(InputFileError, match="pyhit is not installed"):
        reader()
    monkeypatch.delenv(CHOICE)
    assert reader().name == "nmhit"


def test_several_files_make_up_one_input(tmp_path: Path) -> None:
    first, second = tmp_path / "a.i", tmp_path / "b.i"
    first.write_text("[A]\n  x = 1\n  [b]\n    y = 2\n  []\n[]\n")
    second.write_text("[A]\n  x = 3\n  [b]\n    z = ${x}\n  []\n[]\n[C]\n[]\n")
    tree = read_input([first, second], ["A/b/w=5"])
    assert plain(tree) == {"A": {"x": "3", "b": {"y": "2", "z": "3", "w": "5"}}, "C": {}}
    assert tree.blocks["A"].fields["x"].location == f"{second}:2"
