#!/usr/bin/env bash
# nmhit as pip gets it (its wheels hold no library of others); conda-build forbids pip the network unless it is told otherwise.
set -euo pipefail
env -u PIP_NO_INDEX "$PYTHON" -m pip install "nmhit==$NMHIT_VERSION" --no-deps --no-build-isolation --ignore-installed
