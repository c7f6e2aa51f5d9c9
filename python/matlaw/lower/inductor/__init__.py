"""AOTInductor packages (``.pt2``): any operation, any device."""

from matlaw.lower.inductor.package import (
    Recorded,
    compile_exported,
    export,
    export_graph,
    options_for,
    record,
)

__all__ = ["Recorded", "compile_exported", "export", "export_graph", "options_for", "record"]
