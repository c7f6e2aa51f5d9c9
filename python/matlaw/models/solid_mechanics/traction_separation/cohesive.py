"""What the laws of an interface have in common: the vector of tractions and a damage that never heals."""

from __future__ import annotations

import torch

from matlaw.models.context import Context
from matlaw.models.declaration import Input, Output
from matlaw.models.model import Leaf
from matlaw.models.variable import Variable, old
from matlaw.tensors import Scalar, Vec
from matlaw.tensors.base import align


def traction_vector(normal: Scalar, tangential_1: Scalar, tangential_2: Scalar) -> Vec:
    """The three components as a vector."""
    n, a, _ = align(normal, tangential_1)
    _, b, sub = align(normal, tangential_2)
    return Vec(torch.stack(torch.broadcast_tensors(n, a, b)), sub)


class Interface(Leaf):
    """A law of an interface without history."""

    normal_separation = Input(Scalar, "normal separation (length)")
    normal_penetration = Input(Scalar, "normal penetration, negative (length)", required=False)
    tangential_separation_1 = Input(Scalar, "first tangential separation (length)")
    tangential_separation_2 = Input(Scalar, "second tangential separation (length)")
    traction = Output(Vec, "traction: normal, first and second tangential (stress)")

    def require_penalty(self, context: Context) -> None:
        """Makes sure that penetration is resisted.

        :raises InputFileError: when there is a penetration and no stiffness
        """
        if context.given("normal_penetration") and not context.given("penalty_stiffness"):
            raise context.error("a normal_penetration needs the option 'penalty_stiffness'", "normal_penetration")


class DamagingInterface(Interface):
    """A law of an interface with a damage variable, whose old value ``<damage>~1`` is an input."""

    damage = Output(Scalar, "damage, 0 to 1 (-)")

    def setup(self, context: Context) -> None:
        """Adds the old damage."""
        super().setup(context)
        damage = list(self.outputs)[1]
        self.add_input(old(damage), Variable(Scalar), context, "damage")
        self._arguments["old_damage"] = [old(damage)]
