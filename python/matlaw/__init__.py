"""matlaw: constitutive laws compiled ahead of time and evaluated for a whole batch of quadrature points.

>>> import matlaw
>>> law = matlaw.load_model("aoti/model_aoti.i", "model")  # doctest: +SKIP
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from matlaw.errors import (
    AggregateError,
    CompileError,
    ConvergenceError,
    FatalError,
    InputError,
    InputFileError,
    MatlawError,
)
from matlaw.evaluation import Evaluation, Reason, Status
from matlaw.version import __version__

#: Names that are imported from their module when they are first used, so that `import matlaw` stays light.
_LAZY = {
    "load_model": "matlaw.runtime",
    "EagerModel": "matlaw.eager",
    "BatchGroup": "matlaw.host",
    "Kinematics": "matlaw.host",
    "QuadratureBatch": "matlaw.host",
    "WeightStream": "matlaw.runtime.weight_stream",
    "save_weights": "matlaw.models.weight_file",
}

__all__ = [
    "AggregateError",
    "BatchGroup",
    "CompileError",
    "ConvergenceError",
    "EagerModel",
    "Evaluation",
    "FatalError",
    "InputError",
    "InputFileError",
    "Kinematics",
    "MatlawError",
    "QuadratureBatch",
    "Reason",
    "Status",
    "WeightStream",
    "__version__",
    "load_model",
    "save_weights",
]


def __getattr__(name: str) -> Any:
    if name == "_core":
        from matlaw.core_library import load_core

        return load_core()
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'matlaw' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
