# The package libmatlaw as a C++ host finds it.
set -euo pipefail
for file in lib/libmatlaw.so lib/libmatlaw_umat.so lib/libmatlaw_umat_plugin.so include/matlaw/load_model.h \
  include/matlaw/host/QuadratureBatch.h lib/cmake/matlaw/matlawConfig.cmake lib/pkgconfig/matlaw.pc; do
  test -f "$PREFIX/$file" || { echo "libmatlaw has no $file"; exit 1; }
done
if grep -rn "site-packages" "$PREFIX/lib/cmake/matlaw" "$PREFIX/lib/pkgconfig/matlaw.pc"; then
  echo "the CMake and pkg-config files must find torch in the prefix"
  exit 1
fi

cmake -G Ninja -S examples/hosts/cpp -B build-host -DCMAKE_PREFIX_PATH="$PREFIX"
cmake --build build-host
# There is no law without the compiler; that it is missed by name shows that host, libmatlaw and libtorch go together.
if build-host/compiled missing.i 2>said.txt; then
  echo "a law that is not there was loaded"
  exit 1
fi
grep missing.i said.txt
