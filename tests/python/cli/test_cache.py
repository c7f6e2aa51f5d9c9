"""The command ``matlaw-cache``."""

from __future__ import annotations

from pathlib import Path

import pytest

from matlaw.artifact.cache import Cache, key_of
from matlaw.cli.cache import main


def test_show_and_prune(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--dir", str(tmp_path), "show"]) == 0
    assert "0 entries" in capsys.readouterr().out
    cache = Cache(tmp_path)
    for k in range(3):
        cache.put(key_of("native", k), bytes(1024**2))
    cache.put(key_of("verified", 0), b"{}")
    main(["--dir", str(tmp_path), "show"])
    out = capsys.readouterr().out
    assert "4 entries, 3.0 MiB" in out
    assert "native          3 entries" in out
    assert main(["--dir", str(tmp_path), "prune", "--max-size", "2.5M"]) == 0
    assert "removed 1 entries, 1.0 MiB" in capsys.readouterr().out
    main(["--dir", str(tmp_path), "prune", "--older-than", "1"])
    assert "removed 0 entries" in capsys.readouterr().out
    main(["--dir", str(tmp_path), "prune", "--all"])
    assert not cache.entries()


@pytest.mark.parametrize("options", [["--max-size", "many"], ["--older-than", "-1"], ["--older-than", "soon"]])
def test_wrong_sizes_and_ages(tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--dir", str(tmp_path), "prune", *options])
    assert "is not a" in capsys.readouterr().err
