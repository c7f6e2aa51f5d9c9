"""Models that belong to no field of mechanics, and the ones that put models together."""

from matlaw.models.common import copy_variable, forward_euler, history, interpolation, linear_combination, parameters
from matlaw.models.common.aoti import AOTIModel
from matlaw.models.common.arrhenius import ArrheniusParameter
from matlaw.models.common.batch_reductions import (
    SR2DynamicMean,
    SR2DynamicSum,
    SR2IntermediateDiff,
    SR2IntermediateMean,
    SR2IntermediateSum,
)
from matlaw.models.common.complementarity import FBComplementarity
from matlaw.models.common.composed import ComposedModel
from matlaw.models.common.conversions import (
    R2ToSR2,
    R2ToWR2,
    RotationMatrix,
    ScalarToDiagonalSR2,
    SR2ToR2,
    VecComponents,
)
from matlaw.models.common.coordinate_descent import CoordinateDescentPredictor
from matlaw.models.common.determinant import R2Determinant, SR2Determinant
from matlaw.models.common.hermite import HermiteSmoothStep, SymmetricHermiteInterpolation
from matlaw.models.common.implicit_update import ImplicitUpdate
from matlaw.models.common.invariant import SR2Invariant
from matlaw.models.common.irreversible import IrreversibleScalar
from matlaw.models.common.linear_predictor import LinearExtrapolationPredictor
from matlaw.models.common.macaulay_split import MacaulaySplit
from matlaw.models.common.matrix_product import R2Multiplication
from matlaw.models.common.min_map import MinMapComplementarity
from matlaw.models.common.mixed_control import MixedControlSetup
from matlaw.models.common.multiplication import ScalarMultiplication
from matlaw.models.common.nonlinear_system import NonlinearSystem
from matlaw.models.common.p_norm import ScalarPNorm
from matlaw.models.common.predictor import ConstantExtrapolationPredictor
from matlaw.models.common.rate_condensation import RateCondensation
from matlaw.models.common.rotation_integration import (
    WR2ExplicitExponentialTimeIntegration,
    WR2ImplicitExponentialTimeIntegration,
)
from matlaw.models.common.torch_module import TorchModule

__all__ = [
    "AOTIModel",
    "ArrheniusParameter",
    "ComposedModel",
    "ConstantExtrapolationPredictor",
    "CoordinateDescentPredictor",
    "FBComplementarity",
    "HermiteSmoothStep",
    "ImplicitUpdate",
    "IrreversibleScalar",
    "LinearExtrapolationPredictor",
    "MacaulaySplit",
    "MinMapComplementarity",
    "MixedControlSetup",
    "NonlinearSystem",
    "R2Determinant",
    "R2Multiplication",
    "R2ToSR2",
    "R2ToWR2",
    "RateCondensation",
    "RotationMatrix",
    "SR2Determinant",
    "SR2DynamicMean",
    "SR2DynamicSum",
    "SR2IntermediateDiff",
    "SR2IntermediateMean",
    "SR2IntermediateSum",
    "SR2Invariant",
    "SR2ToR2",
    "ScalarMultiplication",
    "ScalarPNorm",
    "ScalarToDiagonalSR2",
    "SymmetricHermiteInterpolation",
    "TorchModule",
    "VecComponents",
    "WR2ExplicitExponentialTimeIntegration",
    "WR2ImplicitExponentialTimeIntegration",
    "copy_variable",
    "forward_euler",
    "history",
    "interpolation",
    "linear_combination",
    "parameters",
]
