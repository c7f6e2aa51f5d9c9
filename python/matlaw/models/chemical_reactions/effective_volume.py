"""Volume of a reacting composite."""

from __future__ import annotations

from matlaw.models.context import Context
from matlaw.models.declaration import Input, Output, Parameter
from matlaw.models.model import Leaf
from matlaw.models.registry import register
from matlaw.tensors import Scalar


@register("EffectiveVolume")
class EffectiveVolume(Leaf):
    r"""Volume of a composite of given mass.

    .. math:: V = \frac{M}{1 - \phi_o} \sum_i \frac{\omega_i}{\rho_i}

    Source: additive volumes, e.g. O. Levenspiel, Chemical Reaction Engineering, Wiley 1999, chapter 3.

    * ``open_volume_fraction`` (Scalar, -, optional): :math:`\phi_o`, 0 when not given
    * ``mass_fractions`` (Scalar, -): :math:`\omega_i`
    * ``composite_volume`` (Scalar, length^3): :math:`V`
    * ``reference_mass`` (Scalar, mass): :math:`M`, parameter ``M``
    * ``densities`` (Scalar, mass/length^3): :math:`\rho_i`, parameters ``density_0``, ``density_1`` ...
    """

    open_volume_fraction = Input(Scalar, "fraction of open volume (-)", required=False)
    mass_fractions = Input(Scalar, "mass fractions (-)", many=True)
    composite_volume = Output(Scalar, "volume (length^3)")
    reference_mass = Parameter(Scalar, "mass (mass)", symbol="M")
    densities = Parameter(Scalar, "densities (mass/length^3)", symbol="density", many=True)

    def setup(self, context: Context) -> None:
        """Checks that every component has a density."""
        super().setup(context)
        fractions, densities = context.option("mass_fractions"), context.option("densities")
        if not fractions or len(fractions) != len(densities):
            raise context.error(f"expected {len(fractions)} densities, got {len(densities)}", "densities")

    def forward(
        self,
        mass_fractions: list[Scalar],
        reference_mass: Scalar,
        densities: list[Scalar],
        open_volume_fraction: Scalar | None = None,
    ) -> Scalar:
        """The volume."""
        total = mass_fractions[0] / densities[0]
        for fraction, density in zip(mass_fractions[1:], densities[1:], strict=True):
            total = total + fraction / density
        volume = reference_mass * total
        return volume if open_volume_fraction is None else volume / (1.0 - open_volume_fraction)
