"""Models that belong to no field of mechanics, and the ones that put models together."""

from matlaw.models.common.aoti import AOTIModel
from matlaw.models.common.complementarity import FBComplementarity
from matlaw.models.common.composed import ComposedModel
from matlaw.models.common.history import (
    ScalarBackwardEulerTimeIntegration,
    ScalarVariableRate,
    SR2BackwardEulerTimeIntegration,
    SR2VariableRate,
)
from matlaw.models.common.implicit_update import ImplicitUpdate
from matlaw.models.common.invariant import SR2Invariant
from matlaw.models.common.linear_combination import ScalarLinearCombination, SR2LinearCombination
from matlaw.models.common.nonlinear_system import NonlinearSystem
from matlaw.models.common.predictor import ConstantExtrapolationPredictor

__all__ = [
    "AOTIModel",
    "ComposedModel",
    "ConstantExtrapolationPredictor",
    "FBComplementarity",
    "ImplicitUpdate",
    "NonlinearSystem",
    "SR2BackwardEulerTimeIntegration",
    "SR2Invariant",
    "SR2LinearCombination",
    "SR2VariableRate",
    "ScalarBackwardEulerTimeIntegration",
    "ScalarLinearCombination",
    "ScalarVariableRate",
]
