# MATLAW_DIR: where the makefile of the MOOSE application finds matlaw.
if [ -n "${MATLAW_DIR+x}" ]; then
  export MATLAW_DIR_BEFORE_CONDA="$MATLAW_DIR"
fi
export MATLAW_DIR="$CONDA_PREFIX"
