"""Time integration of rotations."""

from __future__ import annotations

from matlaw.models.common.history import BackwardEulerTimeIntegration
from matlaw.models.context import Context
from matlaw.models.declaration import Input, Option, Output
from matlaw.models.model import Leaf
from matlaw.models.registry import register
from matlaw.models.variable import Variable, old
from matlaw.tensors import MRP, WR2, Scalar
from matlaw.tensors.rotation import compose, exponential


@register("WR2ExplicitExponentialTimeIntegration")
class WR2ExplicitExponentialTimeIntegration(Leaf):
    r"""Rotation by a constant spin during the step.

    .. math:: r = \exp((t - t_n) \, w) \circ r_n

    Source: J. C. Simo, T. J. R. Hughes, Computational Inelasticity, Springer 1998, section 8.3.2.

    * ``variable`` (MRP): :math:`r`; its old value is the input ``<variable>~1``
    * ``time`` (Scalar, time): :math:`t`; its old value is ``<time>~1``
    * ``rate`` (WR2, 1/time): the spin :math:`w`, by default ``<variable>_rate``
    """

    variable = Output(MRP, "the rotation")
    time = Input(Scalar, "time (time)", required=False, default="t")
    rate = Option("str", "name of the spin", required=False)

    def setup(self, context: Context) -> None:
        """Adds the old values and the spin."""
        super().setup(context)
        [variable] = self.outputs
        [time] = self._arguments["time"]
        for attribute, name, option, kind in (
            ("variable_old", old(variable), "variable", MRP),
            ("time_old", old(str(time)), "time", Scalar),
            ("rate", context.option("rate") or f"{variable}_rate", "rate", WR2),
        ):
            self.add_input(name, Variable(kind), context, option)
            self._arguments[attribute] = [name]

    def forward(self, variable_old: MRP, time: Scalar, time_old: Scalar, rate: WR2) -> MRP:
        """The rotation at the end of the step."""
        return compose(exponential((time - time_old) * rate), variable_old)


@register("WR2ImplicitExponentialTimeIntegration")
class WR2ImplicitExponentialTimeIntegration(BackwardEulerTimeIntegration):
    r"""Residual of the rotation by the spin at the end of the step.

    .. math:: \rho = r - \exp((t - t_n) \, w) \circ r_n

    Source: J. C. Simo, T. J. R. Hughes, Computational Inelasticity, Springer 1998, section 8.3.2.

    * ``variable`` (MRP): :math:`r`; its old value is ``<variable>~1``
    * ``time`` (Scalar, time): :math:`t`; its old value is ``<time>~1``
    * ``rate`` (WR2, 1/time): the spin :math:`w`, by default ``<variable>_rate``
    * ``variable_residual`` (MRP): :math:`\rho`, by default ``<variable>_residual``
    """

    rate_type = WR2

    variable = Input(MRP, "the rotation")
    time = Input(Scalar, "time (time)", required=False, default="t")
    variable_residual = Output(MRP, "by default <variable>_residual", required=False, default="variable_residual")

    def forward(self, variable: MRP, variable_old: MRP, time: Scalar, time_old: Scalar, rate: WR2) -> MRP:
        """The residual."""
        return variable - compose(exponential((time - time_old) * rate), variable_old)
