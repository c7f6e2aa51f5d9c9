"""Files that the parser itself cannot take are refused with a reason, by every way to read one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from matlaw.errors import InputFileError
from matlaw.fe.input.tree import read_input
from matlaw.hit import check_file, parse_file
from matlaw.input import InputFile
from matlaw.inspection.locate import artifacts_of
from matlaw.runtime.load import is_compiled

READERS = [parse_file, InputFile, read_input, artifacts_of, is_compiled]


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[Models]\n[]\n!include b.i\n", r"b\.i:1: files include each other: a\.i -> b\.i -> a\.i"),
        (b"!include a.i # itself\n", r"a\.i:1: files include each other: a\.i -> a\.i"),
        (b"\n!include none.i\n", r"a\.i:2: cannot open the included file '.*none\.i'"),
        (b"!include .\n", r"a\.i:1: cannot open the included file"),
        (b"!include latin.i\n", r"latin\.i: cannot be read: it is no text in UTF-8"),
        (bytes(range(256)), r"a\.i: cannot be read: it is no text in UTF-8"),
        (b"\xef\xbb\xbf[Models]\n[]\n", r"a\.i: begins with a byte order mark"),
        ("# é\n[Models]\n'ü'\né[]\n".encode(), r"a\.i: unexpected character 'é' in .*4; outside quotes"),
        (b"[Models]\n", r"a\.i:1: syntax error.*; block \[Models\], opened in .*1, is not closed"),
        (b"[A]\n  [b]\n    c = '['\n[]\n", r"syntax error.*; block \[b\], opened in .*2, is not closed"),
    ],
)
def test_what_cannot_be_parsed(read: Callable[[Path], object], content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "a.i"
    path.write_bytes(content)
    (tmp_path / "b.i").write_text("!include a.i\n")
    (tmp_path / "latin.i").write_bytes(b"# \xe4\n")
    with pytest.raises(InputFileError, match=message):
        read(path)


def test_only_includes_are_followed(tmp_path: Path) -> None:
    path = tmp_path / "a.i"
    path.write_text("# !include none.i\n[Models]\n[m]\ntype = '\n!include none.i\n'\n[]\n[]\n!include b.i # twice\n")
    path.write_text(path.read_text() + "[Data]\n!include b.i\n[]\n")
    (tmp_path / "b.i").write_text("x = 1\n")
    assert check_file(path) == path.read_text()
    assert parse_file(path).param_int("Data/x") == 1


def test_many_messages_are_cut(tmp_path: Path) -> None:
    path = tmp_path / "a.i"
    path.write_text("{}\n" * 30)
    with pytest.raises(InputFileError, match=r"... and \d+ more$") as error:
        parse_file(path)
    assert len(str(error.value).splitlines()) == 11


def test_fields_made_of_themselves(tmp_path: Path) -> None:
    path = tmp_path / "a.i"
    path.write_text("a = 1\nb = '${a} ${env a} ${raw ${a} b}'\nc = '${b} ${b}'\n[Models]\n  a = ${a}\n[]\n")
    assert parse_file(path).param_int("Models/a") == 1
    with pytest.raises(InputFileError, match=r"override 'a:=\$\{c\}': 'a' is made of itself: a -> c -> b -> a"):
        InputFile(path, ["a:=${c}"])
    path.write_text("a = 1\n[Models]\n  a = ${replace Models/a}\n[]\n")
    with pytest.raises(InputFileError, match=r"a\.i:3: 'Models/a' is made of itself: Models/a -> Models/a"):
        is_compiled(path)
