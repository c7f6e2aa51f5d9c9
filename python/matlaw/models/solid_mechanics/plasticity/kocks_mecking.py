"""The temperature and rate dependence of flow after Kocks and Mecking.

Source of all: U. F. Kocks, H. Mecking, Physics and phenomenology of strain hardening: the FCC case, Prog. Mater. Sci.
48 (2003). In a plot of the logarithm of the flow stress over the shear modulus against the normalised activation
energy, the data fall on a line of slope ``A`` and intercept ``B`` at high activation energy and on a horizontal line at
``C`` at low activation energy.
"""

from __future__ import annotations

import math

import torch

from matlaw.models.context import Context
from matlaw.models.declaration import Input, Option, Output, Parameter
from matlaw.models.model import Leaf
from matlaw.models.naming import NamingLeaf, OwnNameOutput
from matlaw.models.registry import register
from matlaw.tensors import Scalar
from matlaw.tensors.functions import exp, log, tanh, where


@register("KocksMeckingActivationEnergy")
class KocksMeckingActivationEnergy(Leaf):
    r"""Normalised activation energy.

    .. math:: g = \frac{k T}{\mu b^3} \ln \frac{\dot\varepsilon_0}{\dot\varepsilon}

    * ``temperature`` (Scalar, K): :math:`T`
    * ``strain_rate`` (Scalar, 1/time): :math:`\dot\varepsilon`; zero counts as the smallest positive number, so that
      the energy stays finite
    * ``activation_energy`` (Scalar, -): :math:`g`
    * ``shear_modulus`` (Scalar, stress): :math:`\mu`, parameter ``mu``
    * ``eps0`` (1/time): reference strain rate; ``k`` (stress length^3/K): Boltzmann's constant; ``b`` (length):
      magnitude of the Burgers vector
    """

    temperature = Input(Scalar, "absolute temperature (K)")
    strain_rate = Input(Scalar, "effective strain rate (1/time)")
    activation_energy = Output(Scalar, "normalised activation energy (-)")
    shear_modulus = Parameter(Scalar, "shear modulus (stress)", symbol="mu")
    eps0 = Option("float", "reference strain rate (1/time)")
    k = Option("float", "Boltzmann's constant (stress length^3/K)")
    b = Option("float", "magnitude of the Burgers vector (length)")

    def setup(self, context: Context) -> None:
        """Reads the constants."""
        super().setup(context)
        self._eps0: float = context.option("eps0")
        self._volume: float = context.option("k") / context.option("b") ** 3

    def forward(self, temperature: Scalar, strain_rate: Scalar, shear_modulus: Scalar) -> Scalar:
        """The activation energy."""
        tiny = torch.finfo(strain_rate.dtype).tiny
        rate = where(strain_rate > tiny, strain_rate, tiny)
        return self._volume * temperature / shear_modulus * (math.log(self._eps0) - log(rate))


@register("KocksMeckingFlowSwitch")
class KocksMeckingFlowSwitch(Leaf):
    r"""Smooth change from rate-independent to rate-dependent flow at a critical activation energy.

    .. math:: \dot\gamma = (1 - s) \dot\gamma_{ri} + s \dot\gamma_{rd}, \quad s = \tfrac12 (1 + \tanh(c (g - g_0)))

    * ``activation_energy`` (Scalar, -): :math:`g`
    * ``rate_independent_flow_rate``, ``rate_dependent_flow_rate`` (Scalar, 1/time)
    * ``flow_rate`` (Scalar, 1/time): :math:`\dot\gamma`
    * ``g0`` (Scalar, -): critical activation energy
    * ``sharpness`` (-): :math:`c`
    """

    activation_energy = Input(Scalar, "normalised activation energy (-)")
    rate_independent_flow_rate = Input(Scalar, "flow rate at low activation energy (1/time)")
    rate_dependent_flow_rate = Input(Scalar, "flow rate at high activation energy (1/time)")
    flow_rate = Output(Scalar, "flow rate (1/time)")
    g0 = Parameter(Scalar, "critical activation energy (-)")
    sharpness = Option("float", "sharpness of the change (-)", required=False, default="1.0")

    def setup(self, context: Context) -> None:
        """Reads the sharpness."""
        super().setup(context)
        self._sharpness: float = context.option("sharpness")

    def forward(
        self,
        activation_energy: Scalar,
        rate_independent_flow_rate: Scalar,
        rate_dependent_flow_rate: Scalar,
        g0: Scalar,
    ) -> Scalar:
        """The flow rate."""
        share = 0.5 * (1.0 + tanh(self._sharpness * (activation_energy - g0)))
        return share * rate_dependent_flow_rate + (1.0 - share) * rate_independent_flow_rate


@register("KocksMeckingFlowViscosity")
class KocksMeckingFlowViscosity(NamingLeaf):
    r"""Reference stress of a Perzyna-type flow rule.

    .. math:: \eta = e^B \mu \, \dot\varepsilon_0^{k T A / (\mu b^3)}

    * ``temperature`` (Scalar, K): :math:`T`
    * ``viscosity`` (Scalar, stress): :math:`\eta`, by default named like the model
    * ``A``, ``B`` (Scalar, -): slope and intercept
    * ``shear_modulus`` (Scalar, stress): :math:`\mu`, parameter ``mu``
    * ``eps0`` (1/time), ``k`` (stress length^3/K), ``b`` (length): as in the activation energy
    """

    temperature = Input(Scalar, "absolute temperature (K)")
    viscosity = OwnNameOutput(Scalar, "reference stress (stress)")
    A = Parameter(Scalar, "slope (-)")
    B = Parameter(Scalar, "intercept (-)")
    shear_modulus = Parameter(Scalar, "shear modulus (stress)", symbol="mu")
    eps0 = Option("float", "reference strain rate (1/time)")
    k = Option("float", "Boltzmann's constant (stress length^3/K)")
    b = Option("float", "magnitude of the Burgers vector (length)")

    def setup(self, context: Context) -> None:
        """Reads the constants."""
        super().setup(context)
        self._eps0: float = context.option("eps0")
        self._volume: float = context.option("k") / context.option("b") ** 3

    def forward(self, temperature: Scalar, A: Scalar, B: Scalar, shear_modulus: Scalar) -> Scalar:
        """The reference stress."""
        exponent = self._volume * temperature * A / shear_modulus
        return exp(B) * shear_modulus * self._eps0**exponent


@register("KocksMeckingIntercept")
class KocksMeckingIntercept(Leaf):
    r"""Activation energy at which both lines meet.

    .. math:: g_0 = \frac{C - B}{A}

    * ``intercept`` (Scalar, -): :math:`g_0`
    * ``A``, ``B``, ``C`` (Scalar, -): slope, intercept and the level of the horizontal line
    """

    intercept = Output(Scalar, "activation energy where the lines meet (-)")
    A = Parameter(Scalar, "slope (-)")
    B = Parameter(Scalar, "intercept (-)")
    C = Parameter(Scalar, "level of the horizontal line (-)")

    def forward(self, A: Scalar, B: Scalar, C: Scalar) -> Scalar:
        """The activation energy."""
        return (C - B) / A


@register("KocksMeckingRateSensitivity")
class KocksMeckingRateSensitivity(Leaf):
    r"""Exponent of a Perzyna-type flow rule.

    .. math:: n = -\frac{\mu b^3}{k T A}

    The slope is negative, so the exponent is positive.

    * ``temperature`` (Scalar, K): :math:`T`
    * ``rate_sensitivity`` (Scalar, -): :math:`n`
    * ``A`` (Scalar, -): slope
    * ``shear_modulus`` (Scalar, stress): :math:`\mu`, parameter ``mu``
    * ``k`` (stress length^3/K), ``b`` (length): as in the activation energy
    """

    temperature = Input(Scalar, "absolute temperature (K)")
    rate_sensitivity = Output(Scalar, "exponent (-)")
    A = Parameter(Scalar, "slope (-)")
    shear_modulus = Parameter(Scalar, "shear modulus (stress)", symbol="mu")
    k = Option("float", "Boltzmann's constant (stress length^3/K)")
    b = Option("float", "magnitude of the Burgers vector (length)")

    def setup(self, context: Context) -> None:
        """Reads the constants."""
        super().setup(context)
        self._volume: float = context.option("k") / context.option("b") ** 3

    def forward(self, temperature: Scalar, A: Scalar, shear_modulus: Scalar) -> Scalar:
        """The exponent."""
        return -shear_modulus / (self._volume * temperature * A)


@register("KocksMeckingYieldStress")
class KocksMeckingYieldStress(Leaf):
    r"""Yield stress of the rate-independent range.

    .. math:: \sigma_y = e^C \mu

    * ``yield_stress`` (Scalar, stress): :math:`\sigma_y`
    * ``C`` (Scalar, -): level of the horizontal line
    * ``shear_modulus`` (Scalar, stress): :math:`\mu`, parameter ``mu``
    """

    yield_stress = Output(Scalar, "yield stress (stress)")
    C = Parameter(Scalar, "level of the horizontal line (-)")
    shear_modulus = Parameter(Scalar, "shear modulus (stress)", symbol="mu")

    def forward(self, C: Scalar, shear_modulus: Scalar) -> Scalar:
        """The yield stress."""
        return exp(C) * shear_modulus
