"""Artifacts on disk: what a compile writes, how it is checked, and how it appears in one step."""

from matlaw.artifact.compile import CompileReport, compile_model
from matlaw.artifact.plan import plan_export_artifacts
from matlaw.artifact.request import Request

__all__ = ["CompileReport", "Request", "compile_model", "plan_export_artifacts"]
