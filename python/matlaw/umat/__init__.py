"""UMAT plugins: a law behind the Abaqus interface, without a compiler.

:func:`matlaw.umat.mapping.derive` finds out how the arrays of the interface and the law's variables belong together,
:func:`matlaw.umat.plugin.write_plugin` writes a plugin with its settings and the law.
"""

from matlaw.umat.mapping import Mapping, derive
from matlaw.umat.plugin import Plugin, write_plugin

__all__ = ["Mapping", "Plugin", "derive", "write_plugin"]
