"""AOTInductor packages (``.pt2``): any operation, any device."""

from matlaw.lower.inductor.package import compile_exported, export_graph

__all__ = ["compile_exported", "export_graph"]
