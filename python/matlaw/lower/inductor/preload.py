"""Imported once by the process from which those that compile are forked."""

import matlaw.lower.inductor.package  # noqa: F401
