# The package matlaw-moose in an activated environment.
set -euo pipefail
test -d "$PREFIX/share/matlaw/moose_app"
test -e "$PREFIX/share/matlaw/plugin/umat-opt.plugin"
(
  unset MATLAW_DIR
  export CONDA_PREFIX="$PREFIX"
  . "$PREFIX/etc/conda/activate.d/matlaw-moose.sh"
  test "$MATLAW_DIR" = "$PREFIX"
  test -f "$MATLAW_DIR/lib/libmatlaw.so"
  . "$PREFIX/etc/conda/deactivate.d/matlaw-moose.sh"
  test -z "${MATLAW_DIR+x}"
)
