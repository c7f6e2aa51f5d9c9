#!/usr/bin/env bash
# The Python package, for the libmatlaw of the host environment, and libmatlaw_eager.
set -euo pipefail
cmake ${CMAKE_ARGS:-} -G Ninja -S . -B build-matlaw \
  -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_PREFIX_PATH="$PREFIX" \
  -DCMAKE_INSTALL_PREFIX="$PREFIX" \
  -DCMAKE_INSTALL_LIBDIR=lib \
  -DPython_EXECUTABLE="$PYTHON" \
  -DMATLAW_TORCH_PACKAGE=ON \
  -DMATLAW_FRESH_BUILD=ON \
  -DMATLAW_INSTALLED_RUNTIME=ON \
  -DMATLAW_INSTALL_PYTHONDIR="$SP_DIR/matlaw"
cmake --build build-matlaw -j "${CPU_COUNT:-2}"
# The Python files and the commands; their own CMake run is left out.
"$PYTHON" -m pip install . -vv --no-deps --no-build-isolation -C wheel.cmake=false
cmake --install build-matlaw --component python
