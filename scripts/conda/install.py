"""Makes an environment of what `make conda` built: `install.py <prefix> <folder of make conda> <package>...`."""

from __future__ import annotations

import sys
from pathlib import Path

from packages import finish, install

if __name__ == "__main__":
    prefix, folder, *specs = sys.argv[1:]
    built = Path(folder)
    install(specs, Path(prefix), [built / "packages", built / "channel"], built / "cache")
    finish()
