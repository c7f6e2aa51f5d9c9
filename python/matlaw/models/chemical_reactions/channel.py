"""A reaction product that lines a cylindrical channel."""

from __future__ import annotations

from matlaw.models.context import Context
from matlaw.models.declaration import Input, Option, Output, Parameter
from matlaw.models.model import Leaf
from matlaw.models.registry import register
from matlaw.tensors import Scalar
from matlaw.tensors.functions import root
from matlaw.tensors.limits import clamp


@register("CylindricalChannelGeometry")
class CylindricalChannelGeometry(Leaf):
    r"""Radii of the product, over that of the cell.

    .. math:: r_i = \sqrt{1 - \phi_s - \phi_p}, \quad r_o = \sqrt{1 - \phi_s}

    The channel is closed, :math:`r_i = 0`, when solid and product fill the cell. Source: areas of concentric circles.

    * ``solid_fraction``, ``product_fraction`` (Scalar, -): :math:`\phi_s`, :math:`\phi_p`
    * ``inner_radius``, ``outer_radius`` (Scalar, -): :math:`r_i`, :math:`r_o`
    """

    solid_fraction = Input(Scalar, "volume fraction of the solid (-)")
    product_fraction = Input(Scalar, "volume fraction of the product (-)")
    inner_radius = Output(Scalar, "inner radius of the product (-)")
    outer_radius = Output(Scalar, "outer radius of the product (-)")

    def forward(self, solid_fraction: Scalar, product_fraction: Scalar) -> tuple[Scalar, Scalar]:
        """Both radii."""
        outside = 1.0 - solid_fraction
        return root(clamp(outside - product_fraction, 0.0, 1.0)), root(outside)


@register("DiffusionLimitedReaction")
class DiffusionLimitedReaction(Leaf):
    r"""Reaction whose species diffuses through the product.

    .. math:: \dot\alpha = \frac{2 D R_l R_s}{\omega} \frac{r_o}{r_o - r_i + \delta}

    Source: parabolic growth of a product layer, O. Levenspiel, Chemical Reaction Engineering, Wiley 1999, chapter 25.

    * ``product_inner_radius``, ``solid_inner_radius`` (Scalar, -): :math:`r_i`, :math:`r_o`
    * ``liquid_reactivity``, ``solid_reactivity`` (Scalar, -): :math:`R_l`, :math:`R_s`, from 0 to 1
    * ``reaction_rate`` (Scalar, amount/(length^3 time)): :math:`\dot\alpha`
    * ``diffusion_coefficient`` (Scalar, 1/time): :math:`D`, parameter ``D``
    * ``molar_volume`` (length^3/amount): :math:`\omega`
    * ``product_dummy_thickness`` (-): :math:`\delta`, keeps the rate finite without product
    """

    product_inner_radius = Input(Scalar, "inner radius of the product (-)")
    solid_inner_radius = Input(Scalar, "inner radius of the solid (-)")
    liquid_reactivity = Input(Scalar, "reactivity of the liquid (-)")
    solid_reactivity = Input(Scalar, "reactivity of the solid (-)")
    reaction_rate = Output(Scalar, "reaction rate (amount/(length^3 time))")
    diffusion_coefficient = Parameter(Scalar, "diffusion coefficient (1/time)", symbol="D")
    product_dummy_thickness = Option("float", "smallest thickness of the product (-)", required=False, default="0.01")
    molar_volume = Option("float", "molar volume of the diffusing species (length^3/amount)")

    def setup(self, context: Context) -> None:
        """Reads the constants."""
        super().setup(context)
        self._thickness: float = context.option("product_dummy_thickness")
        self._volume: float = context.option("molar_volume")

    def forward(
        self,
        product_inner_radius: Scalar,
        solid_inner_radius: Scalar,
        liquid_reactivity: Scalar,
        solid_reactivity: Scalar,
        diffusion_coefficient: Scalar,
    ) -> Scalar:
        """The reaction rate."""
        speed = 2.0 / self._volume * diffusion_coefficient * liquid_reactivity * solid_reactivity
        return speed * solid_inner_radius / (solid_inner_radius - product_inner_radius + self._thickness)
