"""Plasticity of porous metals."""

from __future__ import annotations

from matlaw.models.declaration import Input, Output, Parameter
from matlaw.models.model import Leaf
from matlaw.models.registry import register
from matlaw.tensors import SR2, Scalar
from matlaw.tensors.functions import exp


@register("GTNYieldFunction")
class GTNYieldFunction(Leaf):
    r"""Yield function of Gurson, Tvergaard and Needleman.

    .. math::
        f = \left(\frac{\bar\sigma}{\sigma_y + k}\right)^2
            + 2 q_1 \phi \cosh\left(\frac{q_2}{2} \frac{\sigma_p}{\sigma_y + k}\right) - (1 + q_3 \phi^2)

    Source: V. Tvergaard, A. Needleman, Analysis of the cup-cone fracture in a round tensile bar, Acta Metall. 32
    (1984).

    * ``flow_invariant`` (Scalar, stress): :math:`\bar\sigma`, the von Mises stress
    * ``poro_invariant`` (Scalar, stress): :math:`\sigma_p`, the trace of the stress, less a sintering stress if any
    * ``void_fraction`` (Scalar, -): :math:`\phi`
    * ``isotropic_hardening`` (Scalar, stress, optional): :math:`k`
    * ``yield_function`` (Scalar, -): :math:`f`, negative inside the elastic domain
    * ``yield_stress`` (Scalar, stress): :math:`\sigma_y`, parameter ``sy``
    * ``q1``, ``q2``, ``q3`` (Scalar, -): Tvergaard's coefficients
    """

    flow_invariant = Input(Scalar, "effective stress (stress)")
    poro_invariant = Input(Scalar, "stress that opens voids (stress)")
    void_fraction = Input(Scalar, "void fraction (-)")
    isotropic_hardening = Input(Scalar, "isotropic hardening (stress)", required=False)
    yield_function = Output(Scalar, "yield function (-)")
    yield_stress = Parameter(Scalar, "yield stress (stress)", symbol="sy")
    q1 = Parameter(Scalar, "coefficient of the void term (-)")
    q2 = Parameter(Scalar, "coefficient inside the void term (-)")
    q3 = Parameter(Scalar, "coefficient of the squared void fraction (-)")

    def forward(
        self,
        flow_invariant: Scalar,
        poro_invariant: Scalar,
        void_fraction: Scalar,
        yield_stress: Scalar,
        q1: Scalar,
        q2: Scalar,
        q3: Scalar,
        isotropic_hardening: Scalar | None = None,
    ) -> Scalar:
        """The yield function."""
        strength = yield_stress if isotropic_hardening is None else yield_stress + isotropic_hardening
        shear = flow_invariant / strength
        x = 0.5 * q2 * poro_invariant / strength
        voids = q1 * void_fraction * (exp(x) + exp(-x))
        return shear * shear + voids - (1.0 + q3 * void_fraction * void_fraction)


@register("GursonCavitation")
class GursonCavitation(Leaf):
    r"""Growth of voids in a matrix that keeps its volume.

    .. math:: \dot\phi = (1 - \phi) \, \mathrm{tr} \, \dot\varepsilon_p

    Source: A. L. Gurson, Continuum theory of ductile rupture by void nucleation and growth, J. Eng. Mater. Technol.
    99 (1977).

    * ``plastic_strain_rate`` (SR2, 1/time): :math:`\dot\varepsilon_p`
    * ``void_fraction`` (Scalar, -): :math:`\phi`
    * ``void_fraction_rate`` (Scalar, 1/time): :math:`\dot\phi`
    """

    plastic_strain_rate = Input(SR2, "rate of plastic strain (1/time)")
    void_fraction = Input(Scalar, "void fraction (-)")
    void_fraction_rate = Output(Scalar, "rate of the void fraction (1/time)")

    def forward(self, plastic_strain_rate: SR2, void_fraction: Scalar) -> Scalar:
        """The rate of the void fraction."""
        return (1.0 - void_fraction) * plastic_strain_rate.trace()


@register("OlevskySinteringStress")
class OlevskySinteringStress(Leaf):
    r"""Sintering stress of a powder compact.

    .. math:: \sigma_s = \frac{3 \gamma}{r} \phi^2

    The published form has the relative density :math:`1 - \phi` in the place of :math:`\phi`; like other programs that
    have a model of this name, this one takes the square of the void fraction. Source: E. A. Olevsky, Theory of
    sintering: from discrete to continuum, Mater. Sci. Eng. R 23 (1998).

    * ``void_fraction`` (Scalar, -): :math:`\phi`
    * ``sintering_stress`` (Scalar, stress): :math:`\sigma_s`
    * ``surface_tension`` (Scalar, force/length): :math:`\gamma`, parameter ``gamma``
    * ``particle_radius`` (Scalar, length): :math:`r`, parameter ``r``
    """

    void_fraction = Input(Scalar, "void fraction (-)")
    sintering_stress = Output(Scalar, "sintering stress (stress)")
    surface_tension = Parameter(Scalar, "surface tension (force/length)", symbol="gamma")
    particle_radius = Parameter(Scalar, "particle radius (length)", symbol="r")

    def forward(self, void_fraction: Scalar, surface_tension: Scalar, particle_radius: Scalar) -> Scalar:
        """The sintering stress."""
        return 3.0 * surface_tension / particle_radius * void_fraction * void_fraction
