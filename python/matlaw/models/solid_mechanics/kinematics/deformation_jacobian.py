"""Volume ratios without stress, and their removal from the deformation gradient."""

from __future__ import annotations

from matlaw.models.declaration import Input, Output, Parameter
from matlaw.models.model import Leaf
from matlaw.models.registry import register
from matlaw.tensors import R2, Scalar


@register("ThermalDeformationJacobian")
class ThermalDeformationJacobian(Leaf):
    r"""Volume ratio of thermal expansion.

    .. math:: J = 1 + \alpha (T - T_0)

    Here :math:`\alpha` is the coefficient of the volume. Source: B. A. Boley, J. H. Weiner, Theory of Thermal Stresses,
    Wiley 1960, section 1.12.

    * ``temperature`` (Scalar, K): :math:`T`
    * ``jacobian`` (Scalar, -): :math:`J`
    * ``reference_temperature`` (Scalar, K): :math:`T_0`, parameter ``T0``
    * ``CTE`` (Scalar, 1/K): :math:`\alpha`, parameter ``alpha``
    """

    temperature = Input(Scalar, "temperature (K)")
    jacobian = Output(Scalar, "volume ratio (-)")
    reference_temperature = Parameter(Scalar, "temperature at the volume ratio 1 (K)", symbol="T0")
    CTE = Parameter(Scalar, "coefficient of thermal expansion (1/K)", symbol="alpha")

    def forward(self, temperature: Scalar, reference_temperature: Scalar, CTE: Scalar) -> Scalar:
        """The volume ratio."""
        return 1.0 + CTE * (temperature - reference_temperature)


@register("SwellingAndPhaseChangeDeformationJacobian")
class SwellingAndPhaseChangeDeformationJacobian(Leaf):
    r"""Volume ratio of a melting or freezing fluid in a solid.

    .. math:: J = 1 + \alpha c \phi + (1 - c) \phi \, \Delta\Omega

    Source: mixture rule of the volumes, e.g. O. Coussy, Poromechanics, Wiley 2004, chapter 1.

    * ``fluid_fraction`` (Scalar, -): :math:`\phi`
    * ``jacobian`` (Scalar, -): :math:`J`
    * ``phase_fraction`` (Scalar, -): :math:`c`, 0 all solid, 1 all liquid
    * ``swelling_coefficient`` (Scalar, -): :math:`\alpha`, parameter ``alpha``
    * ``reference_volume_difference`` (Scalar, -): :math:`\Delta\Omega`, parameter ``dOmega``
    """

    fluid_fraction = Input(Scalar, "volume fraction of the fluid (-)")
    jacobian = Output(Scalar, "volume ratio (-)")
    phase_fraction = Parameter(Scalar, "liquid fraction (-)", symbol="c")
    swelling_coefficient = Parameter(Scalar, "coefficient of swelling (-)", symbol="alpha")
    reference_volume_difference = Parameter(Scalar, "relative difference of the volumes (-)", symbol="dOmega")

    def forward(
        self,
        fluid_fraction: Scalar,
        phase_fraction: Scalar,
        swelling_coefficient: Scalar,
        reference_volume_difference: Scalar,
    ) -> Scalar:
        """The volume ratio."""
        liquid = swelling_coefficient * phase_fraction
        solid = (1.0 - phase_fraction) * reference_volume_difference
        return 1.0 + fluid_fraction * (liquid + solid)


@register("VolumeAdjustDeformationGradient")
class VolumeAdjustDeformationGradient(Leaf):
    r"""Deformation gradient without a given volume ratio.

    .. math:: F_e = J^{-1/3} F

    Source: G. A. Holzapfel, Nonlinear Solid Mechanics, Wiley 2000, section 6.4.

    * ``input`` (R2, -): :math:`F`
    * ``jacobian`` (Scalar, -): :math:`J`, positive
    * ``output`` (R2, -): :math:`F_e`
    """

    input = Input(R2, "deformation gradient (-)")
    jacobian = Input(Scalar, "volume ratio to remove (-)")
    output = Output(R2, "deformation gradient without it (-)")

    def forward(self, input: R2, jacobian: Scalar) -> R2:
        """The deformation gradient that is left."""
        return jacobian ** (-1.0 / 3.0) * input
