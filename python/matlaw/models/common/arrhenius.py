"""Parameters that are thermally activated."""

from __future__ import annotations

from matlaw.models.context import Context
from matlaw.models.declaration import Input, Option, Parameter
from matlaw.models.naming import NamingLeaf, OwnNameOutput
from matlaw.models.registry import register
from matlaw.tensors import Scalar
from matlaw.tensors.functions import exp


@register("ArrheniusParameter")
class ArrheniusParameter(NamingLeaf):
    r"""Arrhenius law.

    .. math:: p = p_0 \exp\left(-\frac{Q}{R T}\right)

    Source: S. Arrhenius, Z. Phys. Chem. 4 (1889).

    * ``temperature`` (Scalar, K): :math:`T`
    * ``parameter`` (Scalar, unit of the reference value): :math:`p`, by default named like the model
    * ``reference_value`` (Scalar, any unit): :math:`p_0`, parameter ``p0``
    * ``activation_energy`` (Scalar, energy/amount): :math:`Q`, parameter ``Q``
    * ``ideal_gas_constant`` (energy/(amount K)): :math:`R`
    """

    temperature = Input(Scalar, "temperature (K)")
    parameter = OwnNameOutput(Scalar, "the value at the temperature")
    reference_value = Parameter(Scalar, "value at infinite temperature", symbol="p0")
    activation_energy = Parameter(Scalar, "activation energy (energy/amount)", symbol="Q")
    ideal_gas_constant = Option("float", "gas constant (energy/(amount K))")

    def setup(self, context: Context) -> None:
        """Reads the gas constant."""
        super().setup(context)
        self._R: float = context.option("ideal_gas_constant")

    def forward(self, temperature: Scalar, reference_value: Scalar, activation_energy: Scalar) -> Scalar:
        """The value."""
        return reference_value * exp(-activation_energy / (self._R * temperature))
