"""The Mandel stress."""

from __future__ import annotations

from matlaw.models.declaration import Input, Output
from matlaw.models.model import Leaf
from matlaw.models.registry import register
from matlaw.tensors import SR2


@register("IsotropicMandelStress")
class IsotropicMandelStress(Leaf):
    """Mandel stress of an isotropic material at small strain, which is the Cauchy stress.

    Source: J. Lubliner, Plasticity Theory, Dover 2008, section 8.2.

    * ``cauchy_stress`` (SR2, stress)
    * ``mandel_stress`` (SR2, stress)
    """

    cauchy_stress = Input(SR2, "Cauchy stress (stress)")
    mandel_stress = Output(SR2, "Mandel stress (stress)")

    def forward(self, cauchy_stress: SR2) -> SR2:
        """The same tensor."""
        return cauchy_stress
