"""Strains without stress."""

from __future__ import annotations

from matlaw.models.declaration import Input, Output, Parameter
from matlaw.models.model import Leaf
from matlaw.models.registry import register
from matlaw.tensors import SR2, Scalar


@register("ThermalEigenstrain")
class ThermalEigenstrain(Leaf):
    r"""Thermal expansion.

    .. math:: \varepsilon_T = \alpha (T - T_0) I

    Source: B. A. Boley, J. H. Weiner, Theory of Thermal Stresses, Wiley 1960, section 1.12.

    * ``temperature`` (Scalar, K): :math:`T`
    * ``eigenstrain`` (SR2, -): :math:`\varepsilon_T`
    * ``reference_temperature`` (Scalar, K): :math:`T_0`, parameter ``T0``
    * ``CTE`` (Scalar, 1/K): coefficient of thermal expansion :math:`\alpha`, parameter ``alpha``
    """

    temperature = Input(Scalar, "temperature (K)")
    eigenstrain = Output(SR2, "thermal strain (-)")
    reference_temperature = Parameter(Scalar, "temperature without strain (K)", symbol="T0")
    CTE = Parameter(Scalar, "coefficient of thermal expansion (1/K)", symbol="alpha")

    def forward(self, temperature: Scalar, reference_temperature: Scalar, CTE: Scalar) -> SR2:
        """The strain."""
        return SR2.spherical(CTE * (temperature - reference_temperature))


@register("VolumeChangeEigenstrain")
class VolumeChangeEigenstrain(Leaf):
    r"""Strain of a change of volume.

    .. math:: \varepsilon_V = \left((V / V_0)^{1/3} - 1\right) I

    Source: the stretch of each direction is the cubic root of the volume ratio, e.g. G. A. Holzapfel, Nonlinear Solid
    Mechanics, Wiley 2000, section 2.4.

    * ``volume`` (Scalar, length^3): :math:`V`
    * ``eigenstrain`` (SR2, -): :math:`\varepsilon_V`
    * ``reference_volume`` (Scalar, length^3): :math:`V_0`, parameter ``V0``
    """

    volume = Input(Scalar, "volume (length^3)")
    eigenstrain = Output(SR2, "strain of the change of volume (-)")
    reference_volume = Parameter(Scalar, "volume without strain (length^3)", symbol="V0")

    def forward(self, volume: Scalar, reference_volume: Scalar) -> SR2:
        """The strain."""
        return SR2.spherical((volume / reference_volume) ** (1.0 / 3.0) - 1.0)


@register("PhaseTransformationEigenstrain")
class PhaseTransformationEigenstrain(Leaf):
    r"""Strain of a phase transformation.

    .. math:: \varepsilon_{PT} = \Delta V f I

    Source: F. D. Fischer et al., A new view on transformation induced plasticity, Int. J. Plast. 16 (2000).

    * ``phase_fraction`` (Scalar, -): :math:`f`, 0 before and 1 after the transformation
    * ``volume_fraction_change`` (Scalar, -): :math:`\Delta V`
    * ``eigenstrain`` (SR2, -): :math:`\varepsilon_{PT}`
    """

    phase_fraction = Input(Scalar, "transformed fraction (-)")
    volume_fraction_change = Input(Scalar, "change of volume of a full transformation (-)")
    eigenstrain = Output(SR2, "transformation strain (-)")

    def forward(self, phase_fraction: Scalar, volume_fraction_change: Scalar) -> SR2:
        """The strain."""
        return SR2.spherical(volume_fraction_change * phase_fraction)
