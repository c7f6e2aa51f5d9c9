"""Initial guesses for the states of crystals."""

from __future__ import annotations

from matlaw.models.context import Context
from matlaw.models.declaration import Input, Output, Parameter
from matlaw.models.model import Leaf
from matlaw.models.registry import register
from matlaw.models.variable import Variable, old
from matlaw.tensors import R2, SR2, Scalar
from matlaw.tensors.functions import where
from matlaw.tensors.inverse import inverse


@register("CrystalPlasticityStrainPredictor")
class CrystalPlasticityStrainPredictor(Leaf):
    r"""Elastic strain of a crystal that was unloaded, as if the step were elastic.

    .. math::
        \varepsilon = \varepsilon_n + s (t - t_n) d \quad \text{where} \quad \lVert \varepsilon_n \rVert < c,
        \quad \text{else} \quad \varepsilon_n

    * ``deformation_rate`` (SR2, 1/time): :math:`d`
    * ``time`` (Scalar, time): :math:`t`; its old value is ``<time>~1``
    * ``elastic_strain`` (SR2, -): :math:`\varepsilon`; its old value is the input ``<elastic_strain>~1``
    * ``scale`` (Scalar, -): :math:`s`
    * ``threshold`` (Scalar, -): :math:`c`
    """

    deformation_rate = Input(SR2, "deformation rate (1/time)")
    time = Input(Scalar, "time (time)", required=False, default="t")
    elastic_strain = Output(SR2, "elastic strain (-)")
    scale = Parameter(Scalar, "factor of the increment (-)", required=False, default="1.0")
    threshold = Parameter(Scalar, "norm of the old strain from which it stays (-)", required=False, default="1e-3")

    def setup(self, context: Context) -> None:
        """Adds the old values."""
        super().setup(context)
        [time] = self._arguments["time"]
        [strain] = self.outputs
        for attribute, name, kind in (("time_old", old(str(time)), Scalar), ("strain_old", old(strain), SR2)):
            self.add_input(name, Variable(kind), context)
            self._arguments[attribute] = [name]

    def forward(
        self,
        deformation_rate: SR2,
        time: Scalar,
        time_old: Scalar,
        strain_old: SR2,
        scale: Scalar,
        threshold: Scalar,
    ) -> SR2:
        """The guess."""
        trial = strain_old + scale * (time - time_old) * deformation_rate
        return where(strain_old.norm() < threshold, trial, strain_old)


@register("CrystalPlasticityDeformationGradientPredictor")
class CrystalPlasticityDeformationGradientPredictor(Leaf):
    r"""Plastic deformation that takes most of the increment, so that the stress starts low.

    .. math::
        F^p = \left(I + s (F^e - I)\right)^{-1} F \quad \text{where} \quad \lVert E \rVert > c, \quad \text{else}
        \quad F^p_n, \quad F^e = F (F^p_n)^{-1}, \quad E = \mathrm{sym}(F^e) - I

    * ``deformation_gradient`` (R2, -): :math:`F`
    * ``plastic_deformation_gradient`` (R2, -): :math:`F^p`; its old value is the input
      ``<plastic_deformation_gradient>~1``
    * ``scale`` (Scalar, -): :math:`s`
    * ``threshold`` (Scalar, -): :math:`c`
    """

    deformation_gradient = Input(R2, "deformation gradient (-)")
    plastic_deformation_gradient = Output(R2, "plastic deformation gradient (-)")
    scale = Parameter(Scalar, "factor of the elastic deformation (-)", required=False, default="0.1")
    threshold = Parameter(Scalar, "elastic strain up to which nothing flows (-)", required=False, default="1e-3")

    def setup(self, context: Context) -> None:
        """Adds the old value."""
        super().setup(context)
        [plastic] = self.outputs
        self.add_input(old(plastic), Variable(R2), context)
        self._arguments["plastic_old"] = [old(plastic)]

    def forward(self, deformation_gradient: R2, plastic_old: R2, scale: Scalar, threshold: Scalar) -> R2:
        """The guess."""
        unit = R2.identity(dtype=plastic_old.dtype, device=plastic_old.device)
        elastic = deformation_gradient @ inverse(plastic_old)
        strain = (elastic - unit).to_SR2()
        relaxed = inverse(unit + scale * (elastic - unit)) @ deformation_gradient
        return where(strain.norm() > threshold, relaxed, plastic_old)
