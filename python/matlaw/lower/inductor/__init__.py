"""AOTInductor packages (``.pt2``): any operation, any device."""

from matlaw.lower.inductor.constants import Template, marker
from matlaw.lower.inductor.headers import WORTHWHILE
from matlaw.lower.inductor.lowerable import Lowerable
from matlaw.lower.inductor.package import compile_exported, export, options_for

__all__ = ["WORTHWHILE", "Lowerable", "Template", "compile_exported", "export", "marker", "options_for"]
