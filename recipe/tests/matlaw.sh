# The package matlaw: compiling, C++ projects with laws of their own (compiled and eager), finite elements.
set -euo pipefail
matlaw-syntax LinearIsotropicElasticity >/dev/null
# Both backends: native kernels and AOTInductor's packages.
matlaw-compile examples/models/linear_elastic.i --model model --output-dir aoti
test -f aoti/model_aoti.i
ls aoti/model/cpu/float64/model.pt2 aoti/model/cpu/float64/model.*.so
matlaw-inspect aoti/model_aoti.i

python - <<'PYTHON'
import os
from pathlib import Path
from matlaw import config

assert config.prefix() == Path(os.environ["PREFIX"]).resolve(), config.prefix()
assert (config.cmake_dir() / "matlawEagerTargets.cmake").is_file()
PYTHON

cmake -G Ninja -S examples/cpp_consumer -B build-consumer -DCMAKE_PREFIX_PATH="$PREFIX" \
  -DPython3_EXECUTABLE="$(command -v python)"
cmake --build build-consumer
# Google's test programs: with a compiled law, with the eager runtime, with either.
ctest --test-dir build-consumer --output-on-failure --no-tests=error
test -x build-consumer/test_eager

matlaw-umat build-consumer/viscoplastic/model_aoti.i --model model -o plugins/steel
test -f plugins/steel-opt.plugin

cd moose_app/test/tests/plasticity
matlaw-fe uniaxial.i
test -s uniaxial_out.csv
