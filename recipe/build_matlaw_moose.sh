#!/usr/bin/env bash
# Everything here is text or a link: the libraries are those of libmatlaw.
set -euo pipefail
share="$PREFIX/share/matlaw"
mkdir -p "$share/plugin"
cp -R moose_app "$share/"
# AbaqusUMATStress loads `plugin = <folder>/umat` from this file; a law's own plugin (matlaw-umat) is a copy of it.
ln -sf ../../../lib/libmatlaw_umat_plugin.so "$share/plugin/umat-opt.plugin"
for hook in activate deactivate; do
  mkdir -p "$PREFIX/etc/conda/$hook.d"
  cp "recipe/$hook.sh" "$PREFIX/etc/conda/$hook.d/matlaw-moose.sh"
done
