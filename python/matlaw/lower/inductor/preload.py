"""Imported once by the process from which those that compile are forked."""

import torch._inductor.compile_fx  # noqa: F401  Otherwise each of them imports it with its first graph: a second.

import matlaw.lower.inductor.package  # noqa: F401
