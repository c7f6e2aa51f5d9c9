#!/bin/sh
# Builds libmatlaw and its C++ tests for a sanitizer and runs those that have to do with threads and memory.
#
#   sh scripts/sanitize.sh thread|address [folder]     (folder: build/sanitize-<which>)
#
# "address" is AddressSanitizer with UndefinedBehaviorSanitizer. Needs cmake, ninja and a Python that holds torch on PATH. Laws of the
# folder in MATLAW_TEST_ARTIFACTS are run with their native kernels. Kernels of the toy law and the runtime are instrumented, torch is
# not: what it reports is suppressed, with the reasons, in scripts/sanitize-<which>.supp.
set -eu
which=${1:-thread}
root=$(cd "$(dirname "$0")/.." && pwd)
build=${2:-$root/build/sanitize-$which}

cmake -G Ninja -S "$root" -B "$build" -DMATLAW_SANITIZE="$which" -DMATLAW_PYTHON=OFF -DMATLAW_TESTS=ON \
  -DMATLAW_FRESH_BUILD=ON \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O1 -DPython3_EXECUTABLE="$(command -v python3)"
cmake --build "$build" --target matlaw_tests

TSAN_OPTIONS="suppressions=$root/scripts/sanitize-thread.supp halt_on_error=0 exitcode=66"
ASAN_OPTIONS="detect_leaks=1 exitcode=66"
LSAN_OPTIONS="suppressions=$root/scripts/sanitize-address.supp"
UBSAN_OPTIONS="print_stacktrace=1"
export TSAN_OPTIONS ASAN_OPTIONS LSAN_OPTIONS UBSAN_OPTIONS
# setarch -R: g++ 12's runtime knows fewer ways to lay out memory than newer kernels have.
exec setarch -R "$build/tests/matlaw_tests" --gtest_brief=1 \
  --gtest_filter='Weight*:ThreadPool.*:Evaluate*:Failure.*:Loading.*:Dispatch.*:WatchedDispatch.*:Robustness.*:Newton*:Gain.*:*Law.*native-*fork*:*packages*:*damaged*'
