#!/usr/bin/env bash
# libmatlaw and libmatlaw_umat, headers, CMake and pkg-config files.
set -euo pipefail
cmake ${CMAKE_ARGS:-} -G Ninja -S . -B build-libmatlaw \
  -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_PREFIX_PATH="$PREFIX" \
  -DCMAKE_INSTALL_PREFIX="$PREFIX" \
  -DCMAKE_INSTALL_LIBDIR=lib \
  -DMATLAW_TORCH_PACKAGE=ON \
  -DMATLAW_FRESH_BUILD=ON \
  -DMATLAW_PYTHON=OFF
cmake --build build-libmatlaw -j "${CPU_COUNT:-2}"
cmake --install build-libmatlaw --component runtime
