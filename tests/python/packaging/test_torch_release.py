"""A torch of another release is refused by name, before anything of it is used."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

import matlaw
from matlaw import _core, core_library

SOURCE = Path(__file__).parents[2] / "cpp" / "other_torch" / "other_torch.cpp"


@pytest.fixture(scope="module")
def other_torch(tmp_path_factory) -> Path:
    """A library that lets the torch of a process say that it is release 2.12."""
    library = tmp_path_factory.mktemp("other_torch") / "libother_torch.so"
    subprocess.run(["c++", "-shared", "-fPIC", str(SOURCE), "-o", str(library)], check=True)
    return library


def test_the_compiled_half_is_refused(other_torch):
    done = subprocess.run(
        [sys.executable, "-c", "from matlaw import _core"],
        env=dict(os.environ, LD_PRELOAD=str(other_torch)), capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 1
    message = done.stderr.splitlines()[-1]
    assert message.startswith("ImportError: libmatlaw was built for torch 2.13, but this process has loaded torch 2.12")
    assert "Install torch 2.13" in message


def test_symbols_that_another_release_lacks_are_explained(monkeypatch):
    """Then the loader fails before matlaw could compare anything; what is installed tells."""
    version = metadata.version
    monkeypatch.setattr(metadata, "version", lambda name: "2.14.1+cpu" if name == "torch" else version(name))
    monkeypatch.setattr(metadata, "requires", lambda name: ["numpy>=1.26", "torch<2.14,>=2.13"])

    def fail(name: str):
        raise ImportError("libmatlaw.so: undefined symbol: _ZN3c10")

    monkeypatch.setattr(core_library, "import_module", fail)
    with pytest.raises(ImportError, match=r"built for torch 2\.13, but torch 2\.14\.1\+cpu is installed") as raised:
        core_library.load_core()
    assert "undefined symbol: _ZN3c10" in str(raised.value)
    assert "Install torch 2.13" in str(raised.value)


def test_other_import_errors_stay_what_they_are(monkeypatch):
    def fail(name: str):
        raise ImportError("no such file")

    monkeypatch.setattr(core_library, "import_module", fail)
    with pytest.raises(ImportError, match=r"^no such file$"):
        core_library.load_core()


def test_this_torch_is_accepted():
    assert core_library.wrong_torch() is None
    assert matlaw._core is _core
