"""The Kelvin-Voigt element."""

from __future__ import annotations

from matlaw.models.context import Context
from matlaw.models.declaration import Input, Output, Parameter
from matlaw.models.model import Leaf
from matlaw.models.registry import register
from matlaw.tensors import SR2, Scalar


@register("KelvinVoigtElement")
class KelvinVoigtElement(Leaf):
    r"""Spring and dashpot in parallel.

    .. math:: \sigma = E \varepsilon + \eta \dot\varepsilon

    Source: W. N. Findley, J. S. Lai, K. Onaran, Creep and Relaxation of Nonlinear Viscoelastic Materials, Dover 1989,
    section 5.4.

    * ``strain`` (SR2, -): :math:`\varepsilon`; its rate is the input ``<strain>_rate`` (1/time)
    * ``stress`` (SR2, stress): :math:`\sigma`
    * ``modulus`` (Scalar, stress): :math:`E`, parameter ``K``
    * ``viscosity`` (Scalar, stress time): :math:`\eta`, parameter ``eta``
    """

    strain = Input(SR2, "strain (-)")
    stress = Output(SR2, "stress (stress)")
    modulus = Parameter(Scalar, "modulus of the spring (stress)", symbol="K")
    viscosity = Parameter(Scalar, "viscosity of the dashpot (stress time)", symbol="eta")

    def setup(self, context: Context) -> None:
        """Adds the rate of the strain."""
        super().setup(context)
        [strain] = self._arguments["strain"]
        rate = f"{strain}_rate"
        self.add_input(rate, self.inputs[str(strain)], context, "strain")
        self._arguments["strain_rate"] = [rate]

    def forward(self, strain: SR2, strain_rate: SR2, modulus: Scalar, viscosity: Scalar) -> SR2:
        """The stress."""
        return modulus * strain + viscosity * strain_rate
